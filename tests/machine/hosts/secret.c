/*
 * secret - sends messages with a text that a packet dump would show to a task on another host and back: packed in each
 * encoding, by pvm_psend and pvm_mcast. Then waits in a PVM call for the given time.
 *
 *   secret HOST MESSAGES WAIT_S
 */
#include <sys/time.h>
#include "tests/machine/runner/check.h"

enum { TAG_TEXT = 1, TAG_BACK, TAG_NEVER, BYTES = 4000 };

static char text[BYTES + 1];

static void write_text(int number)
{
    for (size_t at = 0; at < BYTES; at += 16)
        snprintf(text + at, 17, "PAYLOAD %07d;", number);
}

static void send_text(int to, int number)
{
    static const int encodings[] = {PvmDataRaw, PvmDataDefault, PvmDataInPlace};
    write_text(number);
    if (number % 5 == 4) {
        CHECK_EQ(pvm_psend(to, TAG_TEXT, text, BYTES, PVM_BYTE), 0);
        return;
    }
    CHECK(pvm_initsend(encodings[number % 3]) > 0);
    CHECK_EQ(pvm_pkbyte(text, BYTES, 1), 0);
    CHECK_EQ(number % 5 == 3 ? pvm_mcast(&to, 1, TAG_TEXT) : pvm_send(to, TAG_TEXT), 0);
}

static void receive_text(int from, int tag, int number)
{
    static char got[BYTES];
    check_receive(from, tag);
    CHECK_EQ(pvm_upkbyte(got, BYTES, 1), 0);
    write_text(number);
    CHECK(!memcmp(got, text, BYTES));
}

static void echo(int argc, char **argv)
{
    CHECK(argc > 1);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int number = 0; number < atoi(argv[1]); number++) {
        receive_text(pvm_parent(), TAG_TEXT, number);
        CHECK_EQ(pvm_psend(pvm_parent(), TAG_BACK, text, BYTES, PVM_BYTE), 0);
    }
    check_receive(pvm_parent(), TAG_BACK);
}

static void master(int argc, char **argv)
{
    int partner;
    CHECK(argc > 3);
    struct timeval wait = {atoi(argv[3]), 0};
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_spawn("echo", argv[2], argv[1], 1, &partner);
    for (int number = 0; number < atoi(argv[2]); number++) {
        send_text(partner, number);
        receive_text(partner, TAG_BACK, number);
    }
    printf("sent\n");
    fflush(stdout);
    CHECK_EQ(pvm_trecv(-1, TAG_NEVER, &wait), 0);
    check_send_int(partner, TAG_BACK, 0);
}

static const struct check_role roles[] = {{"echo", echo}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
