// SPDX-License-Identifier: Apache-2.0
// Imports of JSGF: the rules of other grammars, in files beside the one that imports them. jsgf.cc parses the grammars.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/graph/rules.h"

namespace asr {

// A grammar as it is written: its rules refer to others by any of their names.
struct JsgfGrammar {
  struct Import {
    std::string name;  // "com.acme.politeness.startPolite", or with ".*" all public rules of the grammar
    TextPlace place;
  };
  std::string name, source;  // name: "com.acme.commands"
  std::vector<Import> imports;
  Rules rules;
};

// Returns the grammar of a name: it throws if there is none.
using FindJsgf = std::function<JsgfGrammar(const std::string &name)>;

// Returns the rules of a grammar and of those that it imports, directly or not, under names of their own: those of `main` under
// the names that it gives them, others under their full names. References become such names. Own rules may be named in full
// ("com.acme.commands.action", "commands.action"), imported ones by any suffix that tells them from others. Without `find` a
// grammar that imports is refused.
Rules resolve_jsgf(JsgfGrammar main, const FindJsgf &find);

// Finds grammars in the folder of `path`: com/acme/politeness.gram, com.acme.politeness.gram or politeness.gram, also .jsgf.
// Returns the path, or an empty text.
std::string find_jsgf_file(const std::string &path, const std::string &grammar);

}  // namespace asr
