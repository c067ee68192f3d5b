/* hosts.c - the host table: one slot for each index. */
#include "hosts.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "self.h"

static struct pvmd_host *table[PVMC_HOST_INDEX_MAX + 1];
static unsigned last_index; /* given out */
static unsigned end = 1;    /* after the last one in use */

/* Members; listed again after each change. */
static struct pvmd_host *members[PVMC_HOST_INDEX_MAX];
static size_t member_count;
static bool members_stale = true;

struct pvmd_host *pvmd_host_any(unsigned index)
{
    return index <= PVMC_HOST_INDEX_MAX ? table[index] : NULL;
}

unsigned pvmd_host_end(void)
{
    return end;
}

struct pvmd_host *pvmd_host_by_index(unsigned index)
{
    struct pvmd_host *h = pvmd_host_any(index);
    return h && (h->state == PVMD_HOST_JOINING || h->state == PVMD_HOST_UP) ? h : NULL;
}

struct pvmd_host *pvmd_host_self(void)
{
    return table[pvmd.host_index];
}

struct pvmd_host **pvmd_host_list(size_t *count)
{
    if (members_stale) {
        member_count = 0;
        for (unsigned i = 1; i < end; i++)
            if (table[i] && table[i]->state == PVMD_HOST_UP)
                members[member_count++] = table[i];
        members_stale = false;
    }
    *count = member_count;
    return members;
}

struct pvmd_host *pvmd_host_by_name(const char *name)
{
    size_t count;
    struct pvmd_host **list = pvmd_host_list(&count);
    if (!strcmp(name, "."))
        return pvmd_host_self();
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(list[i]->name, name))
            return list[i];
    return NULL;
}

struct pvmd_host *pvmd_host_any_by_name(const char *name)
{
    for (unsigned i = 1; i < end; i++)
        if (table[i] && table[i]->state != PVMD_HOST_LEAVING && !strcasecmp(table[i]->name, name))
            return table[i];
    return NULL;
}

int pvmd_host_slots_own(void)
{
    int64_t set = pvmc_config_integer(PVMC_SETTING_SLOTS);
    cpu_set_t allowed;
    if (set >= 0)
        return (int)set;
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t has room for */
    return online > 0 ? (int)online : 1;
}

/* ---- changes ---- */

static void free_host(struct pvmd_host *h)
{
    free(h->name);
    free(h->arch);
    free(h->exec_path);
    free(h->working_dir);
    free(h->debugger);
    free(h->address);
    free(h);
}

int pvmd_host_set_text(char **field, const char *text)
{
    char *copy = strdup(text);
    if (!copy) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for the host table");
        return PVMC_ENOMEM;
    }
    free(*field);
    *field = copy;
    return 0;
}

static bool set_texts(struct pvmd_host *h, const char *name)
{
    return !pvmd_host_set_text(&h->name, name) && !pvmd_host_set_text(&h->arch, "") &&
           !pvmd_host_set_text(&h->exec_path, "") && !pvmd_host_set_text(&h->working_dir, "") &&
           !pvmd_host_set_text(&h->debugger, "") && !pvmd_host_set_text(&h->address, "");
}

struct pvmd_host *pvmd_host_new(unsigned index, uint32_t incarnation, const char *name)
{
    if (index < 1 || index > PVMC_HOST_INDEX_MAX || table[index])
        return NULL;
    struct pvmd_host *h = calloc(1, sizeof *h);
    if (!h || !set_texts(h, name)) {
        if (h)
            free_host(h);
        return NULL;
    }
    h->index = index;
    h->incarnation = incarnation;
    h->speed = PVMD_SPEED_DEFAULT;
    h->slots = 1;
    members_stale = true;
    if (index >= end)
        end = index + 1;
    return table[index] = h;
}

void pvmd_host_free(struct pvmd_host *host)
{
    table[host->index] = NULL;
    while (end > 1 && !table[end - 1])
        end--;
    members_stale = true;
    free_host(host);
}

void pvmd_host_free_all(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++)
        if (table[i])
            pvmd_host_free(table[i]);
    last_index = 0;
}

void pvmd_host_set_state(struct pvmd_host *host, enum pvmd_host_state state)
{
    host->left_over = false;
    host->state = state;
    members_stale = true;
}

unsigned pvmd_host_next_index(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        unsigned index = (last_index + i - 1) % PVMC_HOST_INDEX_MAX + 1;
        if (!table[index])
            return last_index = index;
    }
    return 0;
}

unsigned pvmd_host_last_index(void)
{
    return last_index;
}

void pvmd_host_set_last_index(unsigned index)
{
    last_index = index <= PVMC_HOST_INDEX_MAX ? index : 0;
}

void pvmd_host_note_index(unsigned index)
{
    unsigned ahead = (index + PVMC_HOST_INDEX_MAX - last_index) % PVMC_HOST_INDEX_MAX;
    if (ahead <= PVMC_HOST_INDEX_MAX / 2)
        pvmd_host_set_last_index(index);
}

/* ---- rows ---- */

void pvmd_host_put_row(struct pvmc_buf *b, const struct pvmd_host *host)
{
    pvmc_buf_put_u32(b, host->index);
    pvmc_buf_put_u32(b, host->incarnation);
    pvmc_buf_put_string(b, host->name);
    pvmc_buf_put_string(b, host->arch);
    pvmc_buf_put_i32(b, host->speed);
    pvmc_buf_put_i32(b, host->slots);
    pvmc_buf_put_u32(b, host->dsig);
    pvmc_buf_put_string(b, host->address);
    pvmc_buf_put_u16(b, host->port);
    pvmc_buf_put_u32(b, host->asker);
    pvmc_buf_put_u32(b, host->asked);
    pvmc_buf_put_u8(b, host->token);
    pvmc_buf_put_u8(b, host->draining);
}

/* A new entry, or the existing one if it is the same host: ourselves, or the master that called us. */
static struct pvmd_host *entry_for(unsigned index, uint32_t incarnation, const char *name)
{
    struct pvmd_host *h = pvmd_host_any(index);
    if (!h) {
        h = pvmd_host_new(index, incarnation, name);
        if (h)
            pvmd_host_set_state(h, PVMD_HOST_JOINING);
        return h;
    }
    return h->incarnation == incarnation && !strcasecmp(h->name, name) ? h : NULL;
}

int pvmd_host_get_row(struct pvmc_buf *b, struct pvmd_host **host)
{
    char name[PVMD_HOST_NAME_MAX + 1], arch[64], address[64];
    unsigned index = pvmc_buf_get_u32(b);
    uint32_t incarnation = pvmc_buf_get_u32(b);
    pvmc_buf_get_string_to(b, name, sizeof name);
    pvmc_buf_get_string_to(b, arch, sizeof arch);
    int speed = pvmc_buf_get_i32(b), slots = pvmc_buf_get_i32(b);
    pvmc_dsig dsig = pvmc_buf_get_u32(b);
    pvmc_buf_get_string_to(b, address, sizeof address);
    uint16_t port = pvmc_buf_get_u16(b);
    uint32_t asker = pvmc_buf_get_u32(b), asked = pvmc_buf_get_u32(b);
    uint8_t token = pvmc_buf_get_u8(b);
    bool draining = pvmc_buf_get_u8(b);
    int rc = pvmc_buf_error(b);
    if (rc)
        return rc;
    if (index < 1 || index > PVMC_HOST_INDEX_MAX || !*name || speed < 1 || speed > PVMD_SPEED_MAX)
        return PVMC_EFORMAT;
    if (slots < 0 || slots > PVMD_SLOTS_MAX)
        return PVMC_EFORMAT;
    struct pvmd_host *h = entry_for(index, incarnation, name);
    if (!h)
        return PVMC_EEXISTS;
    h->speed = speed;
    h->slots = slots;
    h->dsig = dsig;
    h->port = port;
    h->asker = asker;
    h->asked = asked;
    h->token = token;
    h->draining = h->draining || draining; /* we may know it of ourselves before the master does */
    *host = h;
    rc = pvmd_host_set_text(&h->arch, arch);
    return rc || !*address ? rc : pvmd_host_set_text(&h->address, address);
}
