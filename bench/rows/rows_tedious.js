// The same rows with tedious. Arguments: the folder that node_modules lies in, the port, the columns,
// the rows and their sum. Says of itself what the other clients say.
'use strict';

const { createRequire } = require('node:module');
const path = require('node:path');

const [folder, port, columns, rows, sum] = process.argv.slice(2);
const { Connection, Request } = createRequire(path.join(path.resolve(folder), 'x.js'))('tedious');

const MASK = 0xFFFF;
const DAYS_TO_1970 = 719162;

const days = (date) => Math.floor(date.getTime() / 86400000) + DAYS_TO_1970;

const natives = {
  NVarChar: (value) => Buffer.byteLength(value),
  VarChar: (value) => Buffer.byteLength(value),
  DateTime2: days,
  Date: days,
  DecimalN: (value) => Math.round(value * 10000) % (MASK + 1),
  FloatN: (value) => Math.round(value * 7),
  BitN: Number,
  UniqueIdentifier: (value) => parseInt(value.slice(0, 2), 16),
};

function fail(what) {
  process.stderr.write(`rows_tedious.js: ${what}\n`);
  process.exit(1);
}

const connection = new Connection({
  server: '127.0.0.1',
  authentication: { type: 'default', options: { userName: 'bench', password: 'bench' } },
  options: { port: Number(port), encrypt: false, connectTimeout: 20000, requestTimeout: 0 },
});

connection.connect((problem) => {
  if (problem) fail(problem.message);
  let natively;
  let seen = 0;
  let total = 0;
  const began = process.hrtime.bigint();
  const usage = process.cpuUsage();
  const request = new Request('SELECT * FROM t', (error) => {
    const { user, system } = process.cpuUsage(usage);
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    if (error) fail(error.message);
    if (natively.length !== Number(columns) || seen !== Number(rows) || total !== Number(sum)) {
      fail(`the rows are not those that were sent: ${seen} and ${total}`);
    }
    console.log(JSON.stringify({
      n: seen, sec: seconds, cpu_us: (user + system) / seen, threads: 1, samples: [],
    }));
    process.exit(0);
  });
  request.on('columnMetadata', (metadata) => {
    natively = metadata.map(({ type }) => natives[type.name] ?? Number);
  });
  request.on('row', (row) => {
    seen++;
    for (let at = 0; at < row.length; at++) {
      const { value } = row[at];
      if (value !== null) total += natively[at](value) & MASK;
    }
  });
  connection.execSqlBatch(request);
});
