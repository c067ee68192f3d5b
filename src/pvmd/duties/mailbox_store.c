/* mailbox_store.c - see mailbox_store.h. */
#include "mailbox_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/fault/failpoint.h"
#include "core/hash.h"
#include "pvm3.h"

struct class
{
    char *name;
    struct pvmd_mail *mails; /* in order of index */
    UT_hash_handle hh;
};

static struct class *classes;
static size_t entry_count, byte_count, name_bytes;

/* The memory of one task's entries. Persistent entries of ended tasks count towards no task. */
struct usage {
    pvmc_tid owner;
    size_t entries, bytes;
    UT_hash_handle hh;
};

static struct usage *usages;

/* ---- limits ---- */

static struct usage *usage_of(pvmc_tid owner)
{
    struct usage *u;
    HASH_FIND_INT(usages, &owner, u);
    return u;
}

static struct usage *usage_get(pvmc_tid owner)
{
    struct usage *u = usage_of(owner);
    if (u)
        return u;
    u = calloc(1, sizeof *u);
    if (u)
        u->owner = owner;
    if (u && PVMC_HASH_ADD(hh, usages, owner, u))
        return u;
    free(u);
    return NULL;
}

static int charge(const struct pvmd_mail *m)
{
    struct usage *u = m->owner ? usage_get(m->owner) : NULL;
    if (m->owner && !u)
        return PvmNoMem;
    if (u) {
        u->entries++;
        u->bytes += m->length;
    }
    entry_count++;
    byte_count += m->length;
    return PvmOk;
}

static void uncharge_owner(const struct pvmd_mail *m)
{
    struct usage *u = usage_of(m->owner);
    if (!u)
        return;
    u->entries--;
    u->bytes -= m->length;
    if (u->entries)
        return;
    HASH_DEL(usages, u);
    free(u);
}

static bool has_room_for(const struct pvmd_mail *m)
{
    const struct usage *u = usage_of(m->owner);
    if (entry_count >= PVMD_MAILBOX_ENTRIES_MAX || m->length > PVMD_MAILBOX_BYTES_MAX - byte_count)
        return false;
    return m->length <= PVMD_MAILBOX_OWN_BYTES &&
           (!u || (u->entries < PVMD_MAILBOX_OWN_ENTRIES && u->bytes <= PVMD_MAILBOX_OWN_BYTES - m->length));
}

/* ---- classes and entries ---- */

static struct class *class_find(const char *name)
{
    struct class *c;
    HASH_FIND_STR(classes, name, c);
    return c;
}

static struct class *class_get(const char *name)
{
    struct class *c = class_find(name);
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->name = strdup(name);
    if (c->name && PVMC_HASH_ADD_TEXT(hh, classes, name, c)) {
        name_bytes += strlen(name);
        return c;
    }
    free(c->name);
    free(c);
    return NULL;
}

static void class_drop_if_empty(struct class *c)
{
    if (c->mails)
        return;
    name_bytes -= strlen(c->name);
    HASH_DEL(classes, c);
    free(c->name);
    free(c);
}

static void mail_free(struct pvmd_mail *m)
{
    if (m->owner)
        uncharge_owner(m);
    entry_count--;
    byte_count -= m->length;
    free(m->data);
    free(m);
}

/* The entry with this index, or the first one after it. */
static struct pvmd_mail *mail_from(const struct class *c, int index)
{
    struct pvmd_mail *m = c->mails;
    while (m && m->index < index)
        m = m->next;
    return m;
}

static struct pvmd_mail *mail_at(const struct class *c, int index)
{
    struct pvmd_mail *m = mail_from(c, index);
    return m && m->index == index ? m : NULL;
}

static int first_free(const struct class *c, int index)
{
    for (struct pvmd_mail *m = mail_from(c, index); m && m->index == index; m = m->next)
        index++;
    return index;
}

static bool may_change(const struct pvmd_mail *m, pvmc_tid who)
{
    return m->owner == who || m->flags & PvmMboxOverWritable;
}

/* ---- putting ---- */

static struct pvmd_mail *mail_copy(const struct pvmd_mail *like)
{
    struct pvmd_mail *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = *like;
    m->data = malloc(like->length ? like->length : 1);
    if (!m->data || charge(m)) {
        free(m->data);
        free(m);
        return NULL;
    }
    if (like->length)
        memcpy(m->data, like->data, like->length);
    return m;
}

/* The index of a new entry, and the entry that it replaces, if any; or an error. */
static int choose_index(const struct class *c, int index, const struct pvmd_mail *mail, struct pvmd_mail **old)
{
    int direct = (int)(mail->flags >> PvmMboxDirectIndexShift);
    *old = NULL;
    if (!direct && index >= 0)
        return mail_at(c, index) ? PvmDenied : index;
    if (mail->flags & PvmMboxMultiInstance)
        return first_free(c, direct);
    *old = mail_at(c, direct);
    return *old && !may_change(*old, mail->owner) ? PvmDenied : direct;
}

static int compare_index(const struct pvmd_mail *a, const struct pvmd_mail *b)
{
    return a->index < b->index ? -1 : a->index > b->index;
}

static int put_into(struct class *c, int index, const struct pvmd_mail *mail)
{
    struct pvmd_mail *old;
    index = choose_index(c, index, mail, &old);
    if (index < 0)
        return index;
    struct pvmd_mail *m = mail_copy(mail);
    if (!m)
        return PvmNoMem;
    m->index = index;
    if (old) {
        DL_REPLACE_ELEM(c->mails, old, m);
        mail_free(old);
    } else {
        DL_INSERT_INORDER(c->mails, m, compare_index);
    }
    return index;
}

int pvmd_mailbox_put(const char *name, int index, const struct pvmd_mail *mail)
{
    if (!*name || strlen(name) > PVMD_MAILBOX_NAME_MAX || index < -1 || index > (int)PvmMboxMaxDirectIndex)
        return PvmBadParam;
    if (!has_room_for(mail) || (!class_find(name) && strlen(name) > PVMD_MAILBOX_NAMES_MAX - name_bytes))
        return PvmOutOfRes;
    struct class *c = pvmc_failpoint(PVMC_FAILPOINT_MAILBOX_PUT) ? NULL : class_get(name);
    if (!c)
        return PvmNoMem;
    int rc = put_into(c, index, mail);
    class_drop_if_empty(c);
    pvmc_failpoint_done(PVMC_FAILPOINT_MAILBOX_PUT);
    return rc;
}

/* ---- finding and removing ---- */

int pvmd_mailbox_find(const char *name, int index, uint32_t flags, pvmc_tid who, struct pvmd_mail **found)
{
    *found = NULL;
    if (!*name || index < 0)
        return PvmBadParam;
    const struct class *c = class_find(name);
    struct pvmd_mail *m = !c ? NULL : flags & PvmMboxFirstAvail ? mail_from(c, index) : mail_at(c, index);
    if (!m)
        return PvmNotFound;
    if (flags & PvmMboxReadAndDelete && !may_change(m, who))
        return PvmDenied;
    *found = m;
    return m->index;
}

static void take_out(struct class *c, struct pvmd_mail *m)
{
    DL_DELETE(c->mails, m);
    mail_free(m);
}

int pvmd_mailbox_remove(const char *name, int index, uint32_t flags, pvmc_tid who)
{
    struct pvmd_mail *m;
    int rc = pvmd_mailbox_find(name, index, (flags & PvmMboxFirstAvail) | PvmMboxReadAndDelete, who, &m);
    if (rc < 0)
        return rc;
    if (pvmc_failpoint(PVMC_FAILPOINT_MAILBOX_REMOVE))
        return PvmNoMem;
    struct class *c = class_find(name);
    take_out(c, m);
    class_drop_if_empty(c);
    pvmc_failpoint_done(PVMC_FAILPOINT_MAILBOX_REMOVE);
    return rc;
}

/* ---- following the master ---- */

void pvmd_mailbox_take_out(const char *name, int index)
{
    struct class *c = class_find(name);
    struct pvmd_mail *m = c ? mail_at(c, index) : NULL;
    if (!m)
        return;
    take_out(c, m);
    class_drop_if_empty(c);
}

int pvmd_mailbox_place(const char *name, const struct pvmd_mail *mail)
{
    pvmd_mailbox_take_out(name, mail->index);
    struct class *c = class_get(name);
    struct pvmd_mail *m = c ? mail_copy(mail) : NULL;
    if (m)
        DL_INSERT_INORDER(c->mails, m, compare_index);
    else if (c)
        class_drop_if_empty(c);
    return m ? PvmOk : PvmNoMem;
}

/* ---- many at once ---- */

static void owner_ended_in(struct class *c, pvmc_tid owner)
{
    struct pvmd_mail *m, *next;
    DL_FOREACH_SAFE (c->mails, m, next) {
        if (m->owner != owner)
            continue;
        if (!(m->flags & PvmMboxPersistent)) {
            take_out(c, m);
            continue;
        }
        uncharge_owner(m);
        m->owner = 0;
    }
    class_drop_if_empty(c);
}

void pvmd_mailbox_owner_ended(pvmc_tid owner)
{
    struct class *c, *next;
    HASH_ITER (hh, classes, c, next)
        owner_ended_in(c, owner);
}

static int compare_tids(const void *a, const void *b)
{
    pvmc_tid x = *(const pvmc_tid *)a, y = *(const pvmc_tid *)b;
    return x < y ? -1 : x > y;
}

static bool is_spared(const struct pvmd_mail *m, const pvmc_tid *spared, size_t count)
{
    return count && bsearch(&m->owner, spared, count, sizeof *spared, compare_tids);
}

static void reset_class(struct class *c, int index, const pvmc_tid *spared, size_t count)
{
    struct pvmd_mail *m, *next;
    DL_FOREACH_SAFE (c->mails, m, next)
        if ((index < 0 || m->index == index) && !is_spared(m, spared, count))
            take_out(c, m);
    class_drop_if_empty(c);
}

void pvmd_mailbox_reset(const char *name, int index, pvmc_tid *spared, size_t count)
{
    struct class *c, *next;
    if (count)
        qsort(spared, count, sizeof *spared, compare_tids);
    HASH_ITER (hh, classes, c, next)
        if (!*name || !strcmp(c->name, name))
            reset_class(c, index, spared, count);
}

void pvmd_mailbox_free_all(void)
{
    pvmd_mailbox_reset("", -1, NULL, 0);
}

/* ---- listing ---- */

/* Finds each piece between the stars after the one before. strstr() takes linear time for any piece. */
static bool matches(char *const *pieces, const char *name)
{
    for (; *pieces; pieces++) {
        const char *found = strstr(name, *pieces);
        if (!found)
            return false;
        name = found + strlen(*pieces);
    }
    return true;
}

/* A pattern, split at its stars. */
struct pattern {
    char text[PVMD_MAILBOX_NAME_MAX + 1];
    char *pieces[PVMD_MAILBOX_NAME_MAX + 2]; /* ends with NULL */
};

static void split(struct pattern *p, const char *text)
{
    char *rest = p->text, **piece = p->pieces;
    snprintf(p->text, sizeof p->text, "%s", text);
    while ((*piece = strsep(&rest, "*")))
        piece++;
}

bool pvmd_mailbox_matches(const char *pattern, const char *name)
{
    struct pattern p;
    split(&p, pattern);
    return matches(p.pieces, name);
}

void pvmd_mailbox_list(void (*each)(const char *name, const struct pvmd_mail *mail))
{
    for (const struct class *c = classes; c; c = c->hh.next)
        for (const struct pvmd_mail *m = c->mails; m; m = m->next)
            each(c->name, m);
}

static void put_class(struct pvmc_buf *b, const struct class *c)
{
    const struct pvmd_mail *m;
    uint32_t n;
    DL_COUNT(c->mails, m, n);
    pvmc_buf_put_string(b, c->name);
    pvmc_buf_put_u32(b, n);
    DL_FOREACH (c->mails, m) {
        pvmc_buf_put_i32(b, m->index);
        pvmc_buf_put_u32(b, m->owner);
        pvmc_buf_put_u32(b, m->flags);
    }
}

void pvmd_mailbox_put_names(struct pvmc_buf *b, const char *pattern)
{
    uint32_t n = 0;
    struct pvmc_buf rows;
    struct pattern p;
    split(&p, pattern);
    pvmc_buf_init(&rows);
    for (const struct class *c = classes; c; c = c->hh.next)
        if (matches(p.pieces, c->name)) {
            put_class(&rows, c);
            n++;
        }
    pvmc_buf_put_u32(b, n);
    pvmc_buf_put_bytes(b, rows.data, rows.length);
    if (pvmc_buf_error(&rows))
        b->error = pvmc_buf_error(&rows);
    pvmc_buf_free(&rows);
}
