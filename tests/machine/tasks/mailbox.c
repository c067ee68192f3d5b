/*
 * mailbox - entries that the master daemon keeps: every flag, owners, waiting, and what outlives its owner: mailbox
 * [HOSTS].
 */
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/entry.h"

enum { TAG_READY = 1, TAG_GO, TAG_SEEN };

static void check_one_entry(void)
{
    CHECK_EQ(entry_get("one", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_put("one", 11, PvmMboxDefault), 0);
    CHECK_EQ(entry_get("one", 0, PvmMboxDefault), 11);
    CHECK_EQ(entry_get("one", 0, PvmMboxDefault), 11); /* stays */
    CHECK_EQ(entry_put("one", 12, PvmMboxDefault), 0); /* the owner may replace it */
    CHECK_EQ(entry_get("one", 0, PvmMboxDefault), 12);
    struct pvmminfo info;
    CHECK_EQ(pvm_getminfo(pvm_getrbuf(), &info), 0);
    CHECK_EQ(info.src, pvm_mytid());
    CHECK_EQ(entry_get("one", 1, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("one", -1, PvmMboxDefault), PvmBadParam);
    CHECK_EQ(entry_get("", 0, PvmMboxDefault), PvmBadParam);
    CHECK_EQ(pvm_delinfo("one", 5, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(pvm_delinfo("one", 0, PvmMboxDefault), 0);
    CHECK_EQ(entry_get("one", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(pvm_putinfo("one", 123456, PvmMboxDefault), PvmNoSuchBuf); /* hangs in the reference */
}

static void check_instances(void)
{
    for (int i = 0; i < 5; i++)
        CHECK_EQ(entry_put("many", 20 + i, PvmMboxMultiInstance), i);
    CHECK_EQ(pvm_delinfo("many", 1, PvmMboxDefault), 1);
    CHECK_EQ(pvm_delinfo("many", 2, PvmMboxDefault), 2);
    CHECK_EQ(entry_get("many", 1, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("many", 1, PvmMboxFirstAvail), 23);
    CHECK_EQ(entry_put("many", 31, PvmMboxMultiInstance), 1); /* the lowest free index */
    CHECK_EQ(entry_put("many", 39, PvmMboxMultiInstance | PvmMboxDirectIndex(9)), 9);
    CHECK_EQ(entry_get("many", 5, PvmMboxFirstAvail), 39);
    CHECK_EQ(entry_get("many", 0, PvmMboxReadAndDelete), 20);
    CHECK_EQ(entry_get("many", 0, PvmMboxDefault), PvmNotFound);

    int classes;
    struct pvmmboxinfo *info;
    CHECK_EQ(pvm_getmboxinfo("man*", &classes, &info), 0);
    CHECK_EQ(classes, 1);
    CHECK_TEXT(info->mi_name, "many");
    CHECK_EQ(info->mi_nentries, 4);
    static const int expected[] = {1, 3, 4, 9};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(info->mi_indices[i], expected[i]);
        CHECK_EQ(info->mi_owners[i], pvm_mytid());
        CHECK_EQ(pvm_delinfo("many", expected[i], PvmMboxDefault), expected[i]);
    }
    CHECK_EQ(pvm_getmboxinfo("man*", &classes, &info), 0);
    CHECK_EQ(classes, 0);
}

static void check_old_names(void)
{
    int data = 0;
    CHECK_EQ(pvm_insert("old", -1, 42), 0);
    CHECK_EQ(pvm_insert("old", 3, 44), 3);
    CHECK_EQ(pvm_lookup("old", 3, &data), 3);
    CHECK_EQ(data, 44);
    CHECK_EQ(pvm_lookup("old", -1, &data), 0);
    CHECK_EQ(data, 42);
    CHECK_EQ(pvm_lookup("absent", -1, &data), PvmNotFound);
    CHECK_EQ(pvm_delete("old", 3), 3);
    CHECK_EQ(pvm_delete("old", 9), PvmNotFound);
    CHECK_EQ(pvm_delete("old", 0), 0);
}

/* Puts entries of each kind and ends; the parent sees which remain. */
static void owner(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(entry_put("mortal", 1, PvmMboxDefault), 0);
    CHECK_EQ(entry_put("persistent", 2, PvmMboxPersistent | PvmMboxOverWritable), 0);
    CHECK_EQ(entry_put("locked", 3, PvmMboxDefault), 0);
    CHECK_EQ(entry_put("open", 4, PvmMboxOverWritable), 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_receive_int(pvm_parent(), TAG_GO);
}

static void check_owners(const char *host)
{
    int tid;
    check_spawn("owner", NULL, host, 1, &tid);
    check_receive_int(tid, TAG_READY);
    CHECK_EQ(entry_put("locked", 5, PvmMboxDefault), PvmDenied);
    CHECK_EQ(pvm_delinfo("locked", 0, PvmMboxDefault), PvmDenied);
    CHECK_EQ(entry_get("locked", 0, PvmMboxDefault), 3);
    CHECK_EQ(entry_put("open", 6, PvmMboxOverWritable), 0);
    CHECK_EQ(entry_get("open", 0, PvmMboxDefault), 6);
    CHECK_EQ(entry_get("mortal", 0, PvmMboxDefault), 1);
    check_send_int(tid, TAG_GO, 0);
    check_wait_exit(1, &tid);
    CHECK_EQ(entry_get("mortal", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("locked", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("open", 0, PvmMboxDefault), 6); /* ours since we put it */
    CHECK_EQ(entry_get("persistent", 0, PvmMboxDefault), 2);
    CHECK_EQ(pvm_delinfo("persistent", 0, PvmMboxDefault), 0);
    CHECK_EQ(pvm_delinfo("open", 0, PvmMboxDefault), 0);
}

/* Waits for an entry that is not there yet. */
static void waiter(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_send_int(pvm_parent(), TAG_SEEN, entry_get("awaited", 0, PvmMboxWaitForInfo));
}

static void check_waiting(const char *host)
{
    int tids[2], killed;
    check_spawn("waiter", NULL, host, 2, tids);
    check_spawn("waiter", NULL, host, 1, &killed);
    for (int i = 0; i < 3; i++)
        check_receive_int(-1, TAG_READY);
    check_sleep_ms(100);
    CHECK_EQ(pvm_kill(killed), 0); /* a waiter that dies must not matter */
    check_sleep_ms(100);
    CHECK_EQ(pvm_nrecv(-1, TAG_SEEN), 0);
    CHECK_EQ(entry_put("awaited", 77, PvmMboxDefault), 0);
    CHECK_EQ(check_receive_int(tids[0], TAG_SEEN), 77);
    CHECK_EQ(check_receive_int(tids[1], TAG_SEEN), 77);
    CHECK_EQ(pvm_delinfo("awaited", 0, PvmMboxDefault), 0);
}

static void check_large_entry(void)
{
    enum { BYTES = 3 << 20, BYTES_MAX = 32 << 20 };
    char *data = calloc(1, BYTES_MAX + 1);
    CHECK(data != NULL);
    CHECK(pvm_initsend(PvmDataInPlace) > 0);
    CHECK_EQ(pvm_pkbyte(data, BYTES_MAX + 1, 1), 0);
    CHECK_EQ(pvm_putinfo("large", pvm_getsbuf(), PvmMboxDefault), PvmOutOfRes);
    check_fill(data, BYTES, 5);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkbyte(data, BYTES, 1), 0);
    CHECK_EQ(pvm_putinfo("large", pvm_getsbuf(), PvmMboxDefault), 0);
    memset(data, 0, BYTES);
    CHECK(pvm_recvinfo("large", 0, PvmMboxReadAndDelete) > 0);
    CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
    CHECK(check_same(data, BYTES, 5));
    free(data);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    check_one_entry();
    check_instances();
    check_old_names();
    check_owners(check_host_name(hosts - 1));
    check_waiting(check_host_name(hosts - 1));
    check_large_entry();
}

static const struct check_role roles[] = {{"owner", owner}, {"waiter", waiter}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
