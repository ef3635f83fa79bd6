# What the pages of the library's manual describe, in the lines that man_headers.awk makes of the
# headers: functions from the SYNOPSIS, members from the lists under ".Ss struct NAME", words from
# everywhere.
function tidy(text) {
  gsub(/["]/, "", text)
  gsub(/[ \t]+/, " ", text)
  gsub(/ ?[*] ?/, "*", text)
  gsub(/ ?[(] ?/, "(", text)
  gsub(/ ?[)] ?/, ")", text)
  gsub(/ ?, ?/, ",", text)
  gsub(/^ | $/, "", text)
  return text
}

function words(text,    word) {
  while (match(text, /[A-Za-z0-9_]+/)) {
    word = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (word ~ /^ALOFT_[A-Z0-9_]+$/ && word !~ /_$/)
      print "word " word
  }
}

/^\.\\"/ || /^\.Dt / { next }
/^\.Sh / { section = $2; struct = "" }
/^\.Ss / { struct = $2 == "struct" ? $3 : "" }
struct != "" && /^\.It Fa / { print "member " struct " " tidy(substr($0, 8)) }
section == "SYNOPSIS" && /^\.Ft / { type = substr($0, 5) }
section == "SYNOPSIS" && /^\.Fo / { name = $2; arguments = "" }
section == "SYNOPSIS" && /^\.Fa / { arguments = arguments (arguments == "" ? "" : ",") substr($0, 5) }
section == "SYNOPSIS" && /^\.Fc/ { print "function " tidy(type " " name "(" arguments ")") }
{ words($0) }
