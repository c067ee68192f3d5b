/* forked - a child forked after pvm_exit() has the messages that its parent was packing, but as copies. */
#include <sys/wait.h>
#include "tests/machine/runner/check.h"

enum { PACKED = 50000, MORE = 10000 }; /* bytes; one region of message memory has room for both */

static char bytes[PACKED + MORE];

static void pack_more(char value)
{
    memset(bytes, value, MORE);
    CHECK_EQ(pvm_pkbyte(bytes, MORE, 1), 0);
}

/* The child packs after the parent, where the parent's bytes would be. */
static void child(int go)
{
    char c;
    if (read(go, &c, 1) == 1)
        pack_more('c');
    _exit(0);
}

static void master(int argc, char **argv)
{
    int go[2], status;
    (void)argc, (void)argv;
    CHECK_EQ(pipe(go), 0);
    CHECK(pvm_mytid() > 0);
    int message = pvm_initsend(PvmDataRaw);
    CHECK_EQ(pvm_pkbyte(bytes, PACKED, 1), 0);
    CHECK_EQ(pvm_exit(), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child(go[0]);
    pack_more('p');
    CHECK_EQ(write(go[1], "", 1), 1);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK(pvm_mytid() > 0);
    CHECK(pvm_setrbuf(message) >= 0);
    CHECK_EQ(pvm_upkbyte(bytes, PACKED + MORE, 1), 0);
    for (int i = PACKED; i < PACKED + MORE; i++)
        CHECK_EQ(bytes[i], 'p');
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, NULL);
}
