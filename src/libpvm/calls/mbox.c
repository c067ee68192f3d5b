/* mbox.c - the mailbox: messages under names, which the master's daemon keeps for all tasks. */
#include "mbox.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/message.h"
#include "core/message/proto.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/lock.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/remainder.h"
#include "libpvm/route/request.h"
#include "enrol.h"

#define INDEX_ANY (-1) /* the daemon chooses */

/* ---- entries ---- */

static void put_header(struct pvmc_buf *body, enum pvmc_mailbox_op op, const char *name)
{
    pvmc_buf_init(body);
    pvmc_buf_put_u8(body, op);
    pvmc_buf_put_string(body, name);
}

static void put_content(struct pvmc_buf *body, const struct pvmc_message *m)
{
    if (!pvmc_message_is_inplace(m)) {
        pvmc_buf_put_blob(body, m && m->mem ? m->mem->data : NULL, m->length);
        return;
    }
    pvmc_buf_put_u32(body, (uint32_t)m->inplace_length);
    for (unsigned i = 0; i < m->inplace_count; i++)
        pvmc_buf_put_bytes(body, m->inplace[i].iov_base, m->inplace[i].iov_len);
}

/* Index of the entry, or an error. */
static int put(const char *name, int index, int flags, const struct pvmc_message *m)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    if (pvmc_message_bytes(m) > PVMC_BUF_MAX / 2) {
        pvmc_log(PVMC_LOG_ERROR, "a mailbox entry holds %zu bytes at most", PVMC_BUF_MAX / 2);
        return PVMC_ELIMIT;
    }
    struct pvmc_buf body;
    put_header(&body, PVMC_MAILBOX_PUT, name);
    pvmc_buf_put_i32(&body, index);
    pvmc_buf_put_u32(&body, (uint32_t)flags);
    pvmc_buf_put_u32(&body, pvmc_message_is_inplace(m) ? m->dsig : m->enc);
    pvmc_buf_put_u32(&body, m->dsig);
    put_content(&body, m);
    return pvmi_request(PVMC_TM_MAILBOX, &body, NULL);
}

/* The entry as a message, with the caller's reference. */
static int read_entry(struct pvmc_buf *b, struct pvmc_message **out)
{
    pvmc_buf_get_u32(b); /* flags */
    uint32_t src = pvmc_buf_get_u32(b), enc = pvmc_buf_get_u32(b), dsig = pvmc_buf_get_u32(b);
    size_t length;
    const uint8_t *data = pvmc_buf_get_blob(b, &length);
    if (pvmc_buf_error(b))
        return PVMC_EFORMAT;
    struct pvmc_message *m = pvmc_message_new(enc);
    if (!m || pvmc_message_pack_bytes(m, data, length)) {
        pvmc_message_unref(m);
        return PVMC_ENOMEM;
    }
    m->dsig = dsig;
    m->src = src;
    m->dst = pvmi_task.tid;
    *out = m;
    return 0;
}

/* Index of the entry and *m, or an error. */
static int get(const char *name, int index, int flags, struct pvmc_message **m)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    struct pvmi_answer answer;
    put_header(&body, PVMC_MAILBOX_GET, name);
    pvmc_buf_put_i32(&body, index);
    pvmc_buf_put_u32(&body, (uint32_t)flags);
    int found = pvmi_request(PVMC_TM_MAILBOX, &body, &answer);
    *m = NULL;
    rc = found < 0 ? found : read_entry(&answer.body, m);
    int end = pvmi_answer_end(&answer);
    if (!rc && end)
        rc = end;
    if (rc)
        pvmc_message_unref(*m);
    return rc ? rc : found;
}

int pvmi_mbox_remove(const char *name, int index, int flags)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    put_header(&body, PVMC_MAILBOX_REMOVE, name);
    pvmc_buf_put_i32(&body, index);
    pvmc_buf_put_u32(&body, (uint32_t)flags);
    return pvmi_request(PVMC_TM_MAILBOX, &body, NULL);
}

static int put_number(const char *name, int index, int flags, int number)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    int rc = m ? pvmc_message_pack(m, PVM_INT, &number, 1, 1) : PVMC_ENOMEM;
    if (!rc)
        rc = put(name, index, flags, m);
    pvmc_message_unref(m);
    return rc;
}

int pvmi_mbox_put(const char *name, int flags, const struct pvmc_message *m)
{
    return put(name, INDEX_ANY, flags, m);
}

int pvmi_mbox_get(const char *name, int index, int flags, struct pvmc_message **m)
{
    return get(name, index, flags, m);
}

int pvmi_mbox_announce(const char *name, int flags)
{
    return put_number(name, INDEX_ANY, flags, (int)pvmi_task.tid);
}

static bool is_name(const char *name)
{
    return name && *name;
}

/* ---- pvm_putinfo, pvm_recvinfo, pvm_delinfo ---- */

static int put_buffer(const char *name, int mid, int flags)
{
    struct pvmc_message *m;
    if (!is_name(name) || flags < 0)
        return PVMC_EPARAM;
    int rc = pvmi_remainder_await_all(mid);
    if (!rc)
        rc = pvmi_buffer_get(mid, &m);
    int direct = (int)PvmMboxDirectIndexOf(flags);
    return rc ? rc : put(name, direct ? direct : INDEX_ANY, flags, m);
}

int pvm_putinfo(char *name, int mid, int flags)
{
    PVMI_BEGIN(TEV_PUTINFO, PVMI_STRING(CN, name),
               PVMI_INT(CI, flags > 0 && PvmMboxDirectIndexOf(flags) ? (int)PvmMboxDirectIndexOf(flags) : INDEX_ANY),
               PVMI_INT(CF, flags), PVMI_INT(CD, mid));
    int rc = pvmi_return_answer("pvm_putinfo", put_buffer(name, mid, flags));
    PVMI_END(TEV_PUTINFO, PVMI_INT(CC, rc));
    return rc;
}

static int receive_entry(const char *name, int index, int flags)
{
    struct pvmc_message *m = NULL;
    if (!is_name(name) || index < 0 || flags < 0)
        return PVMC_EPARAM;
    int rc = get(name, index, flags, &m);
    if (rc < 0)
        return rc;
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
    int mid = pvmi_buffer_add(m);
    if (mid > 0)
        pvmi_buffer_select_receive(mid);
    return mid;
}

int pvm_recvinfo(char *name, int index, int flags)
{
    PVMI_BEGIN(TEV_GETINFO, PVMI_STRING(CN, name), PVMI_INT(CI, index), PVMI_INT(CF, flags));
    int mid = receive_entry(name, index, flags);
    int rc = mid == PvmNotFound ? pvmi_return_answer("pvm_recvinfo", mid) : pvmi_return("pvm_recvinfo", mid);
    PVMI_END(TEV_GETINFO, PVMI_INT(CC, rc < 0 ? rc : 0), PVMI_INT(CR, rc < 0 ? -1 : rc));
    return rc;
}

int pvm_delinfo(char *name, int index, int flags)
{
    PVMI_BEGIN(TEV_DELINFO, PVMI_STRING(CN, name), PVMI_INT(CI, index), PVMI_INT(CF, flags));
    int removed = is_name(name) && index >= 0 ? pvmi_mbox_remove(name, index, flags) : PVMC_EPARAM;
    int rc = pvmi_return_answer("pvm_delinfo", removed);
    PVMI_END(TEV_DELINFO, PVMI_INT(CC, rc));
    return rc;
}

/* ---- pvm_insert, pvm_lookup, pvm_delete: numbers under names, as in PVM 3.3 ---- */

static int insert_number(const char *name, int index, int data)
{
    if (!is_name(name) || index < INDEX_ANY)
        return PVMC_EPARAM;
    return put_number(name, index, PvmMboxMultiInstance | PvmMboxPersistent, data);
}

int pvm_insert(char *name, int req, int data)
{
    PVMI_BEGIN(TEV_INSERT, PVMI_STRING(CN, name), PVMI_INT(CI, req), PVMI_INT(CD, data));
    int rc = pvmi_return_answer("pvm_insert", insert_number(name, req, data));
    PVMI_END(TEV_INSERT, PVMI_INT(CC, rc));
    return rc;
}

static int lookup_number(const char *name, int index, int *data)
{
    if (!is_name(name) || index < INDEX_ANY)
        return PVMC_EPARAM;
    struct pvmc_message *m = NULL;
    int found = get(name, index < 0 ? 0 : index, index < 0 ? PvmMboxFirstAvail : 0, &m);
    if (found < 0)
        return found;
    int value, rc = pvmc_message_unpack(m, PVM_INT, &value, 1, 1);
    if (!rc && data)
        *data = value;
    pvmc_message_unref(m);
    return rc ? rc : found;
}

int pvm_lookup(char *name, int req, int *data)
{
    PVMI_BEGIN(TEV_LOOKUP, PVMI_STRING(CN, name), PVMI_INT(CI, req));
    int rc = pvmi_return_answer("pvm_lookup", lookup_number(name, req, data));
    PVMI_END(TEV_LOOKUP, PVMI_INT(CC, rc));
    return rc;
}

int pvm_delete(char *name, int req)
{
    PVMI_BEGIN(TEV_DELETE, PVMI_STRING(CN, name), PVMI_INT(CI, req));
    int removed = is_name(name) && req >= 0 ? pvmi_mbox_remove(name, req, 0) : PVMC_EPARAM;
    int rc = pvmi_return_answer("pvm_delete", removed);
    PVMI_END(TEV_DELETE, PVMI_INT(CC, rc));
    return rc;
}

/* ---- pvm_getmboxinfo ---- */

struct classes {
    struct pvmmboxinfo *list;
    int count;
};

static void free_class(struct pvmmboxinfo *c)
{
    free(c->mi_name);
    free(c->mi_indices); /* owners and flags lie in the same block */
}

static void free_classes(struct classes *c)
{
    for (int i = 0; i < c->count; i++)
        free_class(&c->list[i]);
    free(c->list);
    *c = (struct classes){0};
}

static int read_class(struct pvmc_buf *b, struct pvmmboxinfo *c)
{
    c->mi_name = pvmc_buf_get_string(b);
    uint32_t n = pvmc_buf_get_u32(b);
    if (!c->mi_name || n > pvmc_buf_left(b) / 12)
        return PVMC_EFORMAT;
    int *numbers = malloc((n ? n : 1) * 3 * sizeof *numbers);
    if (!numbers)
        return PVMC_ENOMEM;
    c->mi_nentries = (int)n;
    c->mi_indices = numbers;
    c->mi_owners = numbers + n;
    c->mi_flags = numbers + 2 * (size_t)n;
    for (uint32_t i = 0; i < n; i++) {
        c->mi_indices[i] = pvmc_buf_get_i32(b);
        c->mi_owners[i] = pvmc_buf_get_i32(b);
        c->mi_flags[i] = pvmc_buf_get_i32(b);
    }
    return 0;
}

static int read_classes(struct pvmc_buf *b, void *arg)
{
    struct classes *c = arg;
    uint32_t n = pvmc_buf_get_u32(b);
    if (n > pvmc_buf_left(b) / 8)
        return PVMC_EFORMAT;
    c->list = calloc(n ? n : 1, sizeof *c->list);
    if (!c->list)
        return PVMC_ENOMEM;
    int rc = 0;
    while (!rc && c->count < (int)n)
        rc = read_class(b, &c->list[c->count++]);
    return rc;
}

static int list_classes(const char *pattern, struct classes *c)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    put_header(&body, PVMC_MAILBOX_NAMES, pattern);
    rc = pvmi_request_read(PVMC_TM_MAILBOX, &body, read_classes, c);
    if (rc)
        free_classes(c);
    return rc;
}

static _Thread_local struct classes shown; /* what the last pvm_getmboxinfo() returned */

__attribute__((destructor)) static void free_shown(void)
{
    free_classes(&shown);
}

static int show_classes(const char *pattern, int *nclasses, struct pvmmboxinfo **info)
{
    struct classes found = {0};
    int rc = list_classes(pattern && *pattern ? pattern : "*", &found);
    if (rc)
        return rc;
    free_classes(&shown);
    shown = found;
    pvmi_lock_at_thread_end(free_shown);
    if (nclasses)
        *nclasses = shown.count;
    if (info)
        *info = shown.list;
    return 0;
}

int pvm_getmboxinfo(char *pattern, int *nclasses, struct pvmmboxinfo **info)
{
    PVMI_BEGIN(TEV_GETMBOXINFO, PVMI_STRING(CN, pattern));
    int rc = pvmi_return("pvm_getmboxinfo", show_classes(pattern, nclasses, info));
    PVMI_END(TEV_GETMBOXINFO, PVMI_INT(CC, rc));
    return rc;
}

/* ---- pvm_getnoresets ---- */

static _Thread_local int *no_resets; /* what the last pvm_getnoresets() returned */

__attribute__((destructor)) static void free_no_resets(void)
{
    free(no_resets);
    no_resets = NULL;
}

static int list_no_resets(int **tids, int *n)
{
    struct classes found = {0};
    int rc = list_classes(PVMNORESETCLASS, &found);
    if (rc)
        return rc;
    int count = found.count ? found.list[0].mi_nentries : 0;
    int *list = malloc((count ? count : 1) * sizeof *list);
    if (list) {
        if (count)
            memcpy(list, found.list[0].mi_owners, count * sizeof *list);
        free(no_resets);
        no_resets = list;
        pvmi_lock_at_thread_end(free_no_resets);
        if (tids)
            *tids = list;
        if (n)
            *n = count;
    }
    free_classes(&found);
    return list ? 0 : PVMC_ENOMEM;
}

int pvm_getnoresets(int **tids, int *n)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_getnoresets", list_no_resets(tids, n));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
