// SPDX-License-Identifier: Apache-2.0
// Whom this process trusts with files that it uses unseen: plugins, compiled kernels, shared copies and their notes. These are
// root and the effective user. What somebody else owns or may change could be code of his.
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/base/descriptor.h"

namespace asr {

// Returns who else than root and the effective user may change a file or directory, with a remedy, as the end of a sentence
// ("can be written by everybody; ..."); "" if nobody may.
//
// A group with the number of the file's owner counts as the owner. Debian, Fedora and others give each user a group of that
// number with nobody else in it, and a umask that lets this group write. The members of a group are not looked up, since that
// may ask the network. All other groups are others.
std::string why_others_may_change(const struct stat &status);

enum class IfMissing { kFail, kMake };

// Opens a directory that may hold directories of users: nobody but root and the effective user may change it, or it is root's
// and sticky, as /tmp is. With kMake a missing one is made with mode 0700 below the next existing directory of that kind. The
// path must be absolute. A symbolic link at its end is followed if it is the user's or root's. The descriptor is negative if
// the directory is not of that kind.
Descriptor open_base_directory(const std::string &path, IfMissing missing);

// Opens the effective user's own directory `name` in such a base, making it with mode 0700 if it does not exist. The descriptor
// is negative unless only this user and root may change the directory. What becomes of its name afterwards does not matter to a
// caller who goes on with the descriptor (openat).
Descriptor open_user_directory(const Descriptor &base, const std::string &name);

// Opens a file in such a directory for reading. The descriptor is negative unless that is a regular file of the effective
// user's that nobody else but root may change; errno is set then.
Descriptor open_user_file(const Descriptor &directory, const std::string &name);

}  // namespace asr
