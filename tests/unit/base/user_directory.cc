// SPDX-License-Identifier: Apache-2.0
// Tests whom the process trusts: only root and its own user, also where links, modes or a base of others are in the way.
#include "core/base/user_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/build_id.h"
#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 65534;

struct stat status_with(mode_t mode, uid_t user, gid_t group) {
  struct stat status {};
  status.st_mode = mode;
  status.st_uid = user;
  status.st_gid = group;
  return status;
}

TEST(UserDirectory, SaysWhoElseMayChangeAFile) {
  const uid_t user = geteuid();
  const gid_t own = static_cast<gid_t>(user), other = own + 1;
  EXPECT_EQ(why_others_may_change(status_with(0644, user, other)), "");
  EXPECT_EQ(why_others_may_change(status_with(0755, 0, 0)), "");
  EXPECT_EQ(why_others_may_change(status_with(0775, user, own)), "") << "a group with the number of the user is the user's";
  EXPECT_NE(why_others_may_change(status_with(0775, user, other)).find("can be written by group"), std::string::npos);
  EXPECT_NE(why_others_may_change(status_with(0775, 0, 1)).find("can be written by group 1"), std::string::npos);
  EXPECT_NE(why_others_may_change(status_with(0777, user, own)).find("can be written by everybody"), std::string::npos);
  EXPECT_NE(why_others_may_change(status_with(0600, user + 1, own)).find("belongs to user"), std::string::npos);
}

class UserDirectoryTest : public testing::Test {
 protected:
  bool opens(const std::string &base, IfMissing missing = IfMissing::kFail) const {
    return open_user_directory(open_base_directory(base, missing), "own").get() >= 0;
  }
  const Scratch scratch_;
};

TEST_F(UserDirectoryTest, IsMadeForTheUserAlone) {
  EXPECT_TRUE(opens(scratch_.path()));
  EXPECT_EQ(fs::status(scratch_ / "own").permissions(), fs::perms(0700));
  EXPECT_TRUE(opens(scratch_.path())) << "again";
  EXPECT_TRUE(opens(scratch_.path() + "//")) << "with slashes";
}

TEST_F(UserDirectoryTest, MakesAMissingBaseOnlyIfAsked) {
  EXPECT_FALSE(opens(scratch_ / "a/b"));
  EXPECT_EQ(scratch_.n_entries(), 0u);
  EXPECT_TRUE(opens(scratch_ / "a/b", IfMissing::kMake));
  EXPECT_EQ(fs::status(scratch_ / "a").permissions(), fs::perms(0700));
  EXPECT_FALSE(opens("relative", IfMissing::kMake));
  EXPECT_FALSE(opens("", IfMissing::kMake));
}

TEST_F(UserDirectoryTest, NobodyElseMayWriteToIt) {
  ASSERT_TRUE(opens(scratch_.path()));
  fs::permissions(scratch_ / "own", fs::perms(0777));
  EXPECT_FALSE(opens(scratch_.path()));
  fs::permissions(scratch_ / "own", fs::perms(0700));
  fs::permissions(scratch_.path(), fs::perms(0777));
  EXPECT_FALSE(opens(scratch_.path())) << "the base";
}

TEST_F(UserDirectoryTest, AFileInItsPlaceIsNoDirectory) {
  spill(scratch_ / "own", "");
  EXPECT_FALSE(opens(scratch_.path()));
  EXPECT_FALSE(opens(scratch_ / "own"));
}

TEST_F(UserDirectoryTest, TheUsersOwnLinkIsFollowed) {
  fs::create_directory(scratch_ / "real");
  fs::create_directory_symlink("real", scratch_ / "own");
  EXPECT_TRUE(opens(scratch_.path()));
}

TEST_F(UserDirectoryTest, NothingOfAnotherUserIsUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  fs::create_directory(scratch_ / "real");
  fs::create_directory_symlink("real", scratch_ / "own");
  ASSERT_EQ(lchown((scratch_ / "own").c_str(), kOther, kOther), 0);
  EXPECT_FALSE(opens(scratch_.path())) << "a link";
  fs::remove(scratch_ / "own");
  fs::create_directory(scratch_ / "own");
  ASSERT_EQ(chown((scratch_ / "own").c_str(), kOther, kOther), 0);
  EXPECT_FALSE(opens(scratch_.path())) << "the directory";
  fs::remove(scratch_ / "own");
  ASSERT_EQ(chown(scratch_.path().c_str(), kOther, kOther), 0);
  EXPECT_FALSE(opens(scratch_.path())) << "the base";
  EXPECT_FALSE(opens(scratch_ / "a/b", IfMissing::kMake));
  EXPECT_EQ(scratch_.n_entries(), 1u) << "something was made";
}

TEST_F(UserDirectoryTest, FilesAreRegularAndTheUsers) {
  const Descriptor directory = open_user_directory(open_base_directory(scratch_.path(), IfMissing::kFail), "own");
  spill(scratch_ / "own/file", "bytes");
  fs::create_symlink("file", scratch_ / "own/link");
  ASSERT_EQ(mkfifo((scratch_ / "own/pipe").c_str(), 0600), 0);
  EXPECT_GE(open_user_file(directory, "file").get(), 0);
  for (const char *name : {"link", "pipe", "absent"}) EXPECT_LT(open_user_file(directory, name).get(), 0) << name;
  fs::permissions(scratch_ / "own/file", fs::perms(0666));
  EXPECT_LT(open_user_file(directory, "file").get(), 0);
  if (geteuid() != 0) return;
  fs::permissions(scratch_ / "own/file", fs::perms(0644));
  ASSERT_EQ(chown((scratch_ / "own/file").c_str(), kOther, kOther), 0);
  EXPECT_LT(open_user_file(directory, "file").get(), 0);
}

// CMakeLists.txt asks the linker for it.
TEST(BuildId, IsTheProgramsOwn) {
  EXPECT_GE(build_id().size(), 16u);
  EXPECT_EQ(build_id().find_first_not_of("0123456789abcdef"), std::string::npos) << build_id();
}

}  // namespace
}  // namespace asr::test
