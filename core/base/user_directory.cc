// SPDX-License-Identifier: Apache-2.0
#include "core/base/user_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

bool is_own(const struct stat &status) { return status.st_uid == geteuid() && why_others_may_change(status).empty(); }

// In a sticky directory nobody but its owner and an entry's owner can rename or remove the entry. In a container that lacks
// root, root's directories belong to nobody.
bool is_sticky_of_root(const struct stat &status) {
  constexpr uid_t kNobody = 65534;
  return (status.st_uid == 0 || status.st_uid == kNobody) && (status.st_mode & S_ISVTX) != 0;
}

// Opens a directory, following a link at its end if that is the user's or root's.
Descriptor open_directory(int from, const std::string &path, int access) {
  const int flags = access | O_DIRECTORY | O_CLOEXEC;
  Descriptor found(openat(from, path.c_str(), flags | O_NOFOLLOW));
  if (found.get() >= 0 || (errno != ELOOP && errno != ENOTDIR)) return found;
  struct stat link {};
  const bool is_link = fstatat(from, path.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode);
  const bool is_trusted = is_link && (link.st_uid == geteuid() || link.st_uid == 0);
  return is_trusted ? Descriptor(openat(from, path.c_str(), flags)) : Descriptor();
}

// Returns the descriptor, or none unless its status is good.
template <typename IsGood>
Descriptor only_if(Descriptor found, const IsGood &is_good) {
  struct stat status {};
  if (found.get() < 0 || (fstat(found.get(), &status) == 0 && is_good(status))) return found;
  errno = EACCES;
  return {};
}

}  // namespace

std::string why_others_may_change(const struct stat &status) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return format("belongs to user %u, neither root nor the user %u of this process; change its owner",
                  static_cast<unsigned>(status.st_uid), static_cast<unsigned>(geteuid()));
  }
  if ((status.st_mode & S_IWOTH) != 0) return "can be written by everybody; take that away (chmod o-w)";
  if ((status.st_mode & S_IWGRP) != 0 && status.st_gid != status.st_uid) {
    return format("can be written by group %u; take that away (chmod g-w)", static_cast<unsigned>(status.st_gid));
  }
  return "";
}

Descriptor open_base_directory(const std::string &path, IfMissing missing) {
  if (path.empty() || path[0] != '/') return {};
  if (path.size() > 1 && path.back() == '/') return open_base_directory(path.substr(0, path.size() - 1), missing);
  Descriptor base = open_directory(AT_FDCWD, path, O_PATH);
  if (base.get() < 0 && errno == ENOENT && missing == IfMissing::kMake) {
    const size_t slash = path.rfind('/');
    const Descriptor parent = open_base_directory(path.substr(0, std::max<size_t>(slash, 1)), missing);
    const std::string name = path.substr(slash + 1);
    if (parent.get() < 0) return {};
    mkdirat(parent.get(), name.c_str(), 0700);
    base = open_directory(parent.get(), name, O_PATH);
  }
  return only_if(std::move(base),
                 [](const struct stat &status) { return why_others_may_change(status).empty() || is_sticky_of_root(status); });
}

Descriptor open_user_directory(const Descriptor &base, const std::string &name) {
  if (base.get() < 0) return {};
  mkdirat(base.get(), name.c_str(), 0700);
  return only_if(open_directory(base.get(), name, O_RDONLY), is_own);
}

Descriptor open_user_file(const Descriptor &directory, const std::string &name) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return only_if(Descriptor(openat(directory.get(), name.c_str(), kFlags)),
                 [](const struct stat &status) { return S_ISREG(status.st_mode) && is_own(status); });
}

}  // namespace asr
