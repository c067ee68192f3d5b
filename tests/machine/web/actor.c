/*
 * actor.c - a program to look at: a leader and a ring of members that exchange messages, are in a group, put something
 * into the mailbox and print, all under names that are markup.
 *
 *   actor COUNT PROGRAM [PAUSE_MS]     PROGRAM: the name of this one for members
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "pvm3.h"

#define GROUP   "<i onclick=alert(1)>team</i>"
#define MAILBOX "<b onmouseover=alert(2)>box</b>"
#define OUTPUT  "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"

enum { TAG_RING = 1, TAG_MESSAGE, TAG_END, BYTES = 1000, MEMBERS_MAX = 2000 };

static int tids[MEMBERS_MAX], count, pause_ms = 20;

static void lead(char *program)
{
    if (pvm_spawn(program, NULL, PvmTaskDefault, "", count, tids) != count)
        exit(1);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&count, 1, 1);
    pvm_pkint(&pause_ms, 1, 1);
    pvm_pkint(tids, count, 1);
    pvm_mcast(tids, count, TAG_RING);
    pvm_initsend(PvmDataDefault);
    pvm_putinfo(MAILBOX, pvm_getsbuf(), PvmMboxDefault);
    pvm_joingroup(GROUP);
    pvm_barrier(GROUP, count + 2); /* never */
}

static int place_of(int tid)
{
    int i = 0;

    while (i < count - 1 && tids[i] != tid)
        i++;
    return i;
}

static void take_part(int own)
{
    char data[BYTES] = {0};
    struct timeval limit = {1, 0};

    pvm_recv(pvm_parent(), TAG_RING);
    pvm_upkint(&count, 1, 1);
    pvm_upkint(&pause_ms, 1, 1);
    if (count > MEMBERS_MAX)
        exit(1);
    pvm_upkint(tids, count, 1);
    int next = tids[(place_of(own) + 1) % count];
    if (place_of(own) < 8)
        pvm_joingroup(GROUP);
    printf("%s\n", OUTPUT);
    fprintf(stderr, "to standard error\n");
    fflush(stdout);
    for (;;) {
        pvm_initsend(PvmDataDefault);
        pvm_pkbyte(data, BYTES, 1);
        pvm_send(next, TAG_MESSAGE);
        if (pvm_trecv(-1, TAG_MESSAGE, &limit) < 0)
            exit(1);
        nanosleep(&(struct timespec){pause_ms / 1000, pause_ms % 1000 * 1000000}, NULL);
    }
}

int main(int argc, char **argv)
{
    int own = pvm_mytid();

    if (own < 0)
        return 1;
    if (pvm_parent() > 0) {
        take_part(own);
    } else if (argc >= 3) {
        count = atoi(argv[1]);
        if (argc > 3)
            pause_ms = atoi(argv[3]);
        if (count > 0 && count <= MEMBERS_MAX)
            lead(argv[2]);
    }
    return 0;
}
