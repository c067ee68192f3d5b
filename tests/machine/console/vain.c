/* vain - tasks that wait for what cannot come: vain orphan|pair|deaf. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"

enum { CHUNK = 1 << 20 };

static int start(char *program, char *role)
{
    char *argv[] = {role, NULL};
    int tid = 0;
    pvm_spawn(program, argv, PvmTaskDefault, "", 1, &tid);
    return tid;
}

static void send_without_end(int tid)
{
    static char chunk[CHUNK];
    do {
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(chunk, CHUNK, 1);
    } while (pvm_send(tid, 1) == PvmOk);
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "";
    pvm_mytid();
    if (!strcmp(role, "orphan")) {
        int tid = start(argv[0], "ends");
        while (pvm_pstat(tid) == PvmOk)
            usleep(1000);
        pvm_recv(tid, 1);
    } else if (!strcmp(role, "pair")) {
        pvm_recv(start(argv[0], "other"), 1);
    } else if (!strcmp(role, "other")) {
        pvm_recv(pvm_parent(), 1);
    } else if (!strcmp(role, "deaf")) {
        send_without_end(start(argv[0], "pauses"));
    } else if (!strcmp(role, "pauses")) {
        pause();
    }
    pvm_exit();
    return 0;
}
