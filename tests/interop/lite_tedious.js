// tedious against aloft lite. Arguments: the folder that node_modules lies in, the port, the user.
// The password is LITE_PASSWORD, the file of lite's certificate LITE_CERTIFICATE.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder, port, user] = process.argv.slice(2);
const { Connection, Request, TYPES, ISOLATION_LEVEL } =
  createRequire(path.join(path.resolve(folder), 'x.js'))('tedious');

function connect(changes = {}, options = {}) {
  const connection = new Connection({
    server: '127.0.0.1',
    authentication: {
      type: 'default',
      options: { userName: user, password: process.env.LITE_PASSWORD, ...changes },
    },
    options: {
      port: Number(port), encrypt: false, database: 'test', connectTimeout: 20000, ...options,
    },
  });
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve(connection)));
  });
}

function close(connection) {
  return new Promise((resolve) => {
    connection.once('end', resolve);
    connection.close();
  });
}

// { rows, columns, counts, returned, error, rowCount }
function run(connection, sql, { parameters = [], outputs = [], how = 'execSql', act } = {}) {
  return new Promise((resolve) => {
    const seen = { rows: [], columns: [], counts: [], returned: {}, status: undefined };
    const request = new Request(sql, (error, rowCount) => resolve({ ...seen, error: error ?? null, rowCount }));
    for (const [name, type, value, options] of parameters)
      request.addParameter(name, type, value, options);
    for (const [name, type, value, options] of outputs)
      request.addOutputParameter(name, type, value, options);
    request.on('columnMetadata', (columns) => seen.columns.push(columns.map((c) => c.colName)));
    request.on('row', (row) => seen.rows.push(row.map((column) => column.value)));
    request.on('returnValue', (name, value) => { seen.returned[name] = value; });
    for (const event of ['done', 'doneInProc'])
      request.on(event, (count) => seen.counts.push(count));
    request.on('doneProc', (count, more, status) => { seen.status = status; });
    connection[how](request);
    if (act) act(connection, request);
  });
}

async function value(connection, sql, options) {
  const { rows, error } = await run(connection, sql, options);
  assert.equal(error, null, `${sql}: ${error}`);
  return rows[0][0];
}

async function fails(connection, sql, number, options) {
  const { error } = await run(connection, sql, options);
  assert.ok(error, `${sql} did not fail`);
  assert.equal(error.number, number, `${sql}: ${error}`);
}

function transact(connection, verb, ...rest) {
  return new Promise((resolve, reject) => {
    connection[verb]((error) => (error ? reject(error) : resolve()), ...rest);
  });
}

// ---- the tests ----

const tests = {
  async login() {
    await assert.rejects(connect({ password: 'wrong' }), /Login failed for user/);
    await assert.rejects(connect({ userName: 'other' }), /Login failed for user/);
    await assert.rejects(connect({}, { database: 'elsewhere' }), /Cannot open database/);
    await assert.rejects(connect({}, { encrypt: true }));
    for (const tdsVersion of ['7_4', '7_3_B', '7_3_A']) {
      const connection = await connect({}, { tdsVersion });
      assert.equal(await value(connection, 'SELECT 7'), 7);
      await close(connection);
    }
    for (const packetSize of [512, 32767]) {
      const connection = await connect({}, { packetSize });
      const text = await value(connection, "SELECT REPLICATE(CAST('x' AS varchar(max)), 100000)");
      assert.equal(text, 'x'.repeat(100000));
      await close(connection);
    }
  },

  async fortunes(connection) {
    const made = await run(connection,
      `CREATE TABLE fortune (id int NOT NULL PRIMARY KEY, message nvarchar(2048) NOT NULL)
       INSERT INTO fortune VALUES (1, N'fortune: No such file or directory'),
         (2, N'フレームワークのベンチマーク'), (3, N'<script>alert("😀")</script>')`,
      { how: 'execSqlBatch' });
    assert.equal(made.error, null);
    const { rows, columns, rowCount } =
      await run(connection, 'SELECT id, message FROM fortune ORDER BY id');
    assert.deepEqual(columns, [['id', 'message']]);
    assert.deepEqual(rows, [[1, 'fortune: No such file or directory'],
      [2, 'フレームワークのベンチマーク'], [3, '<script>alert("😀")</script>']]);
    assert.equal(rowCount, 3);
  },

  async parameters(connection) {
    const when = new Date(Date.UTC(2024, 1, 29, 12, 34, 56, 123));
    const guid = '6F9619FF-8B86-D011-B42D-00C04FC964FF';
    const cases = [
      [TYPES.Bit, true], [TYPES.TinyInt, 255], [TYPES.SmallInt, -32768], [TYPES.Int, -2147483648],
      [TYPES.BigInt, '-9223372036854775808'], [TYPES.Real, -0.5], [TYPES.Float, 1.5e300],
      [TYPES.Decimal, 123.45, 123.45, { precision: 10, scale: 2 }],
      [TYPES.Numeric, -7.125, -7.125, { precision: 38, scale: 3 }],
      [TYPES.VarChar, 'naïve'], [TYPES.NVarChar, '€ 😀'], [TYPES.NVarChar, 'x'.repeat(10000)],
      [TYPES.Char, 'ab', 'ab'], [TYPES.NChar, '€', '€'], [TYPES.NVarChar, ''],
      [TYPES.VarBinary, Buffer.from([0, 127, 255])],
      [TYPES.VarBinary, Buffer.alloc(9000, 7)],
      [TYPES.Binary, Buffer.from([1, 2])],
      [TYPES.UniqueIdentifier, guid],
      [TYPES.Date, when, new Date(Date.UTC(2024, 1, 29))],
      [TYPES.DateTime, when], [TYPES.DateTime2, when], [TYPES.DateTimeOffset, when],
      [TYPES.SmallDateTime, when, new Date(Date.UTC(2024, 1, 29, 12, 34))] /* tedious cuts */,
      [TYPES.Time, when, new Date(Date.UTC(1970, 0, 1, 12, 34, 56, 123))],
    ];
    for (const [type, given, expected = given, options] of cases) {
      const got = await value(connection, 'SELECT @p AS v',
        { parameters: [['p', type, given, options]] });
      assert.deepEqual(got, expected, type.name);
      assert.equal(await value(connection, 'SELECT @p AS v',
        { parameters: [['p', type, null, options]] }), null, type.name);
    }
    const { rows } = await run(connection, 'SELECT message FROM fortune WHERE id = @id',
      { parameters: [['id', TYPES.Int, 2]] });
    assert.deepEqual(rows, [['フレームワークのベンチマーク']]);
  },

  async outputs(connection) {
    const { returned, error } = await run(connection, "SET @b = @a + 1 SET @c = N'text'", {
      parameters: [['a', TYPES.Int, 41]],
      outputs: [['b', TYPES.Int], ['c', TYPES.NVarChar, null, { length: 20 }]],
    });
    assert.equal(error, null);
    assert.deepEqual(returned, { b: 42, c: 'text' });
  },

  async prepared(connection) {
    const request = new Request('SELECT message FROM fortune WHERE id = @id', () => {});
    request.addParameter('id', TYPES.Int);
    const finished = (event) => new Promise((resolve, reject) => {
      request.once(event, resolve);
      request.callback = (error) => (error ? reject(error) : resolve());
    });
    const prepared = finished('prepared');
    connection.prepare(request);
    await prepared;
    const seen = [];
    request.on('row', ([column]) => seen.push(column.value));
    for (const id of [3, 1, 1]) {
      const done = finished('requestCompleted');
      connection.execute(request, { id });
      await done;
    }
    assert.deepEqual(seen, ['<script>alert("😀")</script>',
      ...Array(2).fill('fortune: No such file or directory')]);
    const unprepared = finished('requestCompleted');
    connection.unprepare(request);
    await unprepared;
  },

  async results(connection) {
    const two = await run(connection, "SELECT 1 AS a PRINT 'x' SELECT N'b' AS b, NULL AS c",
      { how: 'execSqlBatch' });
    assert.deepEqual(two.columns, [['a'], ['b', 'c']]);
    assert.deepEqual(two.rows, [[1], ['b', null]]);
    const counts = await run(connection,
      `CREATE TABLE c (a int) INSERT INTO c VALUES (1), (2) UPDATE c SET a = 3 WHERE a = 1
       DELETE c DROP TABLE c`, { how: 'execSqlBatch' });
    assert.equal(counts.error, null);
    assert.deepEqual(counts.counts.filter((count) => count !== undefined), [2, 1, 2]);
    const many = await run(connection,
      'SELECT a.id FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) AS a (id) ' +
      'CROSS JOIN (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) AS b (id) ' +
      'CROSS JOIN (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) AS c (id) ' +
      'CROSS JOIN (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) AS d (id)');
    assert.equal(many.rows.length, 10000);
  },

  async messages(connection) {
    const texts = [];
    const keep = (message) => texts.push(message.message);
    connection.on('infoMessage', keep);
    await run(connection, "PRINT N'hello €'", { how: 'execSqlBatch' });
    connection.off('infoMessage', keep);
    assert.deepEqual(texts, ['hello €']);
  },

  async errors(connection) {
    await fails(connection, 'SELECT 1/0', 8134);
    await fails(connection, 'SELECT 1/0', 8134, { how: 'execSqlBatch' });
    await fails(connection, 'SELECT * FROM missing', 208);
    await fails(connection, 'SELECT missing FROM fortune', 207);
    await fails(connection, 'SELECT 1 +', 102);
    await fails(connection, "INSERT INTO fortune VALUES (1, N'x')", 2627);
    await fails(connection, 'INSERT INTO fortune (id) VALUES (9)', 515);
    await fails(connection, 'CREATE INDEX i ON fortune (id)', 40510);
    await fails(connection, 'sp_who', 40510, { how: 'callProcedure' });
    assert.equal(await value(connection, 'SELECT 1'), 1);
  },

  async transactions(connection) {
    await transact(connection, 'beginTransaction', '', ISOLATION_LEVEL.READ_COMMITTED);
    await run(connection, "INSERT INTO fortune VALUES (100, N'x')");
    assert.equal(await value(connection, 'SELECT @@TRANCOUNT'), 1);
    await transact(connection, 'rollbackTransaction');
    assert.equal(await value(connection, 'SELECT COUNT(*) FROM fortune'), 3);
    await transact(connection, 'beginTransaction');
    await run(connection, "INSERT INTO fortune VALUES (100, N'x')");
    await transact(connection, 'commitTransaction');
    assert.equal(await value(connection, 'SELECT COUNT(*) FROM fortune'), 4);
    await run(connection, 'BEGIN TRAN', { how: 'execSqlBatch' });
    await run(connection, 'DELETE fortune', { how: 'execSqlBatch' });
    await new Promise((resolve, reject) => {
      connection.reset((error) => (error ? reject(error) : resolve()));
    });
    assert.equal(await value(connection, 'SELECT COUNT(*) FROM fortune'), 4);
    await run(connection, 'DELETE fortune WHERE id = 100');
  },

  async cancel(connection) {
    const waiting = await run(connection, "WAITFOR DELAY '01:00:00'",
      { how: 'execSqlBatch', act: () => setImmediate(() => connection.cancel()) });
    assert.equal(waiting.error.code, 'ECANCEL');
    const rows = Array.from({ length: 100 }, (_, i) => `(${i})`).join(',');
    await run(connection, `CREATE TABLE n (a int) INSERT INTO n VALUES ${rows}`);
    const working = await run(connection, 'SELECT COUNT_BIG(*) FROM n a CROSS JOIN n b ' +
      'CROSS JOIN n c CROSS JOIN n d CROSS JOIN n e',
    { act: () => setTimeout(() => connection.cancel(), 50) });
    assert.equal(working.error.code, 'ECANCEL');
    const streaming = await run(connection, 'SELECT a.a FROM n a CROSS JOIN n b CROSS JOIN n c',
      { act: (_, request) => request.once('row', () => connection.cancel()) });
    assert.equal(streaming.error.code, 'ECANCEL');
    assert.ok(streaming.rows.length < 1000000);
    assert.equal(await value(connection, 'SELECT 1'), 1);
  },

  async encryption() {
    const ca = fs.readFileSync(process.env.LITE_CERTIFICATE);
    const large = 'x'.repeat(300000);
    for (const encrypt of [false, true, 'strict']) {
      const trusted = { encrypt, serverName: 'localhost', cryptoCredentialsDetails: { ca } };
      const connection = await connect({}, trusted);
      const { rows } = await run(connection, 'SELECT message FROM fortune WHERE id = @id',
        { parameters: [['id', TYPES.Int, 2]] });
      assert.deepEqual(rows, [['フレームワークのベンチマーク']]);
      assert.equal(await value(connection, 'SELECT @p + @p',
        { parameters: [['p', TYPES.NVarChar, large]] }), large + large);
      const waiting = await run(connection, "WAITFOR DELAY '01:00:00'",
        { how: 'execSqlBatch', act: () => setImmediate(() => connection.cancel()) });
      assert.equal(waiting.error.code, 'ECANCEL');
      assert.equal(await value(connection, 'SELECT 1'), 1);
      await close(connection);
      await assert.rejects(connect({ password: 'wrong' }, trusted), /Login failed for user/);
      if (!encrypt)
        continue;
      await assert.rejects(connect({}, { encrypt, serverName: 'localhost' }), /self.signed/);
      await assert.rejects(connect({}, { ...trusted, serverName: 'elsewhere' }), /elsewhere|altnames/);
      if (encrypt === true)
        await close(await connect({}, { encrypt, trustServerCertificate: true }));
    }
  },

  async many() {
    const connections = await Promise.all(Array.from({ length: 20 }, () => connect()));
    const values = await Promise.all(connections.map((connection, i) =>
      value(connection, 'SELECT @i * 2', { parameters: [['i', TYPES.Int, i]] })));
    assert.deepEqual(values, connections.map((_, i) => i * 2));
    await Promise.all(connections.map(close));
  },
};

async function main() {
  const connection = await connect();
  for (const [name, test] of Object.entries(tests)) {
    await test(connection);
    console.log(`ok ${name}`);
  }
  await close(connection);
  console.log(`${Object.keys(tests).length} passed`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
