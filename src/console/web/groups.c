/* groups.c - see groups.h. */
#include "groups.h"
#include "groups/proto.h"
#include "pvm3.h"
#include "tools/pvm-info/text.h"

enum { GROUPS_SHOWN = 1000, MEMBERS_SHOWN = 20000 };

bool groups_ask(void)
{
    int entry[2] = {0};
    int old_receive = pvm_setrbuf(0), old_send = pvm_setsbuf(0);
    bool found = pvm_recvinfo((char *)PVMG_GROUP_SERVER_CLASS, 0, PvmMboxDefault) > 0 && pvm_upkint(entry, 2, 1) >= 0;

    if (found) {
        int context = pvm_setcontext(PVMG_GROUP_CTX_SERVER);
        pvm_initsend(PvmDataDefault);
        found = pvm_send(entry[0], PVMG_GROUP_LEGACY_LIST) >= 0;
        pvm_setcontext(context);
    }
    pvm_freebuf(pvm_setsbuf(old_send));
    pvm_freebuf(pvm_setrbuf(old_receive));
    return found;
}

static int unpack(void)
{
    int value = -1;

    return pvm_upkint(&value, 1, 1) < 0 ? -1 : value;
}

static json_t *tids_json(int count)
{
    json_t *tids = json_array();

    for (int i = 0; i < count && i < MEMBERS_SHOWN; i++)
        json_array_append_new(tids, json_integer(unpack()));
    for (int i = MEMBERS_SHOWN; i < count; i++)
        unpack();
    return tids;
}

/* A packed string: its length including the NUL, then its bytes. */
static bool read_name(char *name, int size)
{
    int length = unpack();

    return length >= 1 && length <= size && pvm_upkbyte(name, length, 1) >= 0 && name[length - 1] == '\0';
}

/* The next group of the answer; NULL if that is malformed. */
static json_t *group_json(void)
{
    char name[PVMG_GROUP_NAME_MAX + 1] = "";

    unpack(); /* the length once more */
    if (!read_name(name, sizeof(name)))
        return NULL;
    int size = unpack(), span = unpack(), count = unpack(), reached = unpack();
    if (size < 0 || span < 0 || reached < 0 || span > PVMG_GROUP_MEMBERS_MAX || reached > PVMG_GROUP_MEMBERS_MAX)
        return NULL;
    json_t *members = tids_json(span);
    return json_pack("{s:o, s:i, s:i, s:o, s:o}", "name", text_json(name), "size", size, "barrier", count, "members",
                     members, "waiting", tids_json(reached));
}

static json_t *read_answer(void)
{
    json_t *rows = json_array(), *group = rows;

    for (int n = unpack(); n > 0 && group != NULL && json_array_size(rows) < GROUPS_SHOWN; n--)
        if ((group = group_json()) != NULL)
            json_array_append_new(rows, group);
    return rows;
}

json_t *groups_take(void)
{
    int context = pvm_setcontext(PVMG_GROUP_CTX_SERVER);
    json_t *rows = NULL;

    while (pvm_nrecv(-1, PVMG_GROUP_LEGACY_LIST) > 0) { /* the last answer counts */
        json_decref(rows);
        rows = read_answer();
    }
    pvm_setcontext(context);
    return rows;
}
