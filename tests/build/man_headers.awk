# What the public headers declare, one line each, blanks made one:
#   function TYPE NAME(ARGUMENTS)    those of the library, and the inline ones of the adapters
#   member STRUCT DECLARATION       but for those that are the library's own
#   word NAME                       constants and macros
function tidy(text) {
  gsub(/[ \t]+/, " ", text)
  gsub(/ ?[*] ?/, "*", text)
  gsub(/ ?[(] ?/, "(", text)
  gsub(/ ?[)] ?/, ")", text)
  gsub(/ ?, ?/, ",", text)
  gsub(/^ | $/, "", text)
  return text
}

# The place after the bracket that closes the one before `at`.
function after_bracket(text, at,    depth, c) {
  for (depth = 1; depth > 0 && at <= length(text); at++) {
    c = substr(text, at, 1)
    depth += (c == "{") - (c == "}")
  }
  return at
}

# Without nested structs, which are all called `own`; the members of a union are members.
function flatten(body,    from, to) {
  while (match(body, /struct [{]/)) {
    from = RSTART
    to = after_bracket(body, RSTART + RLENGTH)
    body = substr(body, 1, from - 1) substr(body, to + index(substr(body, to), ";"))
  }
  gsub(/union [{]/, "", body)
  gsub(/[}][^;]*;/, "", body)
  return body
}

function members(name, body,    count, i, part) {
  count = split(flatten(body), part, ";")
  for (i = 1; i <= count; i++)
    if (tidy(part[i]) != "")
      print "member " name " " tidy(part[i])
}

function structs(text,    name, from, to) {
  while (match(text, /struct aloft_[a-z0-9_]+ [{]/)) {
    name = substr(text, RSTART + 7, RLENGTH - 9)
    from = RSTART + RLENGTH
    to = after_bracket(text, from)
    if (name != "aloft_item" && name != "aloft_link") # the library's own as a whole
      members(name, substr(text, from, to - from - 1))
    text = substr(text, to)
  }
}

function functions(text,    count, i, part) {
  count = split(text, part, ";")
  for (i = 1; i <= count; i++)
    if (match(part[i], /ALOFT_API /))
      print "function " tidy(substr(part[i], RSTART + RLENGTH))
}

function inline_functions(text) {
  while (match(text, /static inline [a-z_]+ [*]?aloft_[a-z_]+[(][^)]*[)] [{]/)) {
    print "function " tidy(substr(text, RSTART + 14, RLENGTH - 16))
    text = substr(text, RSTART + RLENGTH)
  }
}

function words(text,    word) {
  while (match(text, /[A-Za-z0-9_]+/)) {
    word = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (word ~ /^ALOFT_[A-Z0-9_]+$/ && word !~ /_(H|ENUM)$/)
      print "word " word
  }
}

{ all = all $0 "\n" }

END {
  while (match(all, /\/[*]/)) {
    from = RSTART
    all = substr(all, 1, from - 1) " " \
          substr(all, from + index(substr(all, from), "*/") + 1)
  }
  words(all)
  gsub(/\\\n/, " ", all)
  count = split(all, line, "\n")
  for (i = 1; i <= count; i++)
    if (line[i] !~ /^ *#/)
      code = code " " line[i]
  gsub(/[ \t]+/, " ", code)
  functions(code)
  inline_functions(code)
  structs(code)
}
