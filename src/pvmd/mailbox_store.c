/* mailbox_store.c - see mailbox_store.h. */
#include "mailbox_store.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "../core/hash.h"
#include "pvm3.h"

struct class
{
    char *name;
    struct pvmd_mail *mails; /* in order of index */
    UT_hash_handle hh;
};

static struct class *classes;
static size_t entry_count, byte_count;

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
    if (c->name && PVMI_HASH_ADD_TEXT(hh, classes, name, c))
        return c;
    free(c->name);
    free(c);
    return NULL;
}

static void class_drop_if_empty(struct class *c)
{
    if (c->mails)
        return;
    HASH_DEL(classes, c);
    free(c->name);
    free(c);
}

static void mail_free(struct pvmd_mail *m)
{
    entry_count--;
    byte_count -= m->length;
    free(m->data);
    free(m);
}

/* The entry with this index, or the first one behind it. */
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

static bool may_change(const struct pvmd_mail *m, pvmi_tid who)
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
    if (!m->data) {
        free(m);
        return NULL;
    }
    if (like->length)
        memcpy(m->data, like->data, like->length);
    entry_count++;
    byte_count += m->length;
    return m;
}

/* The index that a new entry gets, and the one it replaces if there is one; or an error. */
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
    if (entry_count >= PVMD_MAILBOX_ENTRIES_MAX || mail->length > PVMD_MAILBOX_BYTES_MAX - byte_count)
        return PvmOutOfRes;
    struct class *c = class_get(name);
    if (!c)
        return PvmNoMem;
    int rc = put_into(c, index, mail);
    class_drop_if_empty(c);
    return rc;
}

/* ---- finding and removing ---- */

int pvmd_mailbox_find(const char *name, int index, uint32_t flags, pvmi_tid who, struct pvmd_mail **found)
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

int pvmd_mailbox_remove(const char *name, int index, uint32_t flags, pvmi_tid who)
{
    struct pvmd_mail *m;
    int rc = pvmd_mailbox_find(name, index, (flags & PvmMboxFirstAvail) | PvmMboxReadAndDelete, who, &m);
    if (rc < 0)
        return rc;
    struct class *c = class_find(name);
    take_out(c, m);
    class_drop_if_empty(c);
    return rc;
}

/* ---- many at once ---- */

static void owner_ended_in(struct class *c, pvmi_tid owner)
{
    struct pvmd_mail *m, *next;
    DL_FOREACH_SAFE (c->mails, m, next) {
        if (m->owner != owner)
            continue;
        if (m->flags & PvmMboxPersistent)
            m->owner = 0;
        else
            take_out(c, m);
    }
    class_drop_if_empty(c);
}

void pvmd_mailbox_owner_ended(pvmi_tid owner)
{
    struct class *c, *next;
    HASH_ITER (hh, classes, c, next)
        owner_ended_in(c, owner);
}

static bool is_spared(const struct pvmd_mail *m, const pvmi_tid *spared, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (m->owner == spared[i])
            return true;
    return false;
}

static void reset_class(struct class *c, int index, const pvmi_tid *spared, size_t count)
{
    struct pvmd_mail *m, *next;
    DL_FOREACH_SAFE (c->mails, m, next)
        if ((index < 0 || m->index == index) && !is_spared(m, spared, count))
            take_out(c, m);
    class_drop_if_empty(c);
}

void pvmd_mailbox_reset(const char *name, int index, const pvmi_tid *spared, size_t count)
{
    struct class *c, *next;
    HASH_ITER (hh, classes, c, next)
        if (!*name || !strcmp(c->name, name))
            reset_class(c, index, spared, count);
}

void pvmd_mailbox_free_all(void)
{
    pvmd_mailbox_reset("", -1, NULL, 0);
}

/* ---- listing ---- */

bool pvmd_mailbox_matches(const char *pattern, const char *name)
{
    const char *star = pattern, *resume = name; /* as after a `*`; and how much of the name it covers */
    while (*pattern) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (*resume) {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    return true;
}

void pvmd_mailbox_list(void (*each)(const char *name, const struct pvmd_mail *mail))
{
    for (const struct class *c = classes; c; c = c->hh.next)
        for (const struct pvmd_mail *m = c->mails; m; m = m->next)
            each(c->name, m);
}

static void put_class(struct pvmi_buf *b, const struct class *c)
{
    const struct pvmd_mail *m;
    uint32_t n;
    DL_COUNT(c->mails, m, n);
    pvmi_buf_put_string(b, c->name);
    pvmi_buf_put_u32(b, n);
    DL_FOREACH (c->mails, m) {
        pvmi_buf_put_i32(b, m->index);
        pvmi_buf_put_u32(b, m->owner);
        pvmi_buf_put_u32(b, m->flags);
    }
}

void pvmd_mailbox_put_names(struct pvmi_buf *b, const char *pattern)
{
    uint32_t n = 0;
    for (const struct class *c = classes; c; c = c->hh.next)
        n += pvmd_mailbox_matches(pattern, c->name);
    pvmi_buf_put_u32(b, n);
    for (const struct class *c = classes; c; c = c->hh.next)
        if (pvmd_mailbox_matches(pattern, c->name))
            put_class(b, c);
}
