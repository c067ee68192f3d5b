/* nart.c - maps node ids to hardware addresses. */
#include "nart.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"

#define LINE_MAX_BYTES 256

struct row {
    uint16_t node;
    uint8_t hardware[6];
    char interface[16]; /* "": any */
    bool fixed;         /* from the file */
    int64_t heard_us;
    UT_hash_handle hh;
};

struct dpi_nart {
    struct row *rows; /* learned ones in the order of their confirmation */
};

static struct row *find(const struct dpi_nart *t, uint16_t node)
{
    struct row *r;
    HASH_FIND(hh, t->rows, &node, sizeof node, r);
    return r;
}

static struct row *add(struct dpi_nart *t, uint16_t node)
{
    struct row *r = HASH_COUNT(t->rows) < DPI_NART_MAX ? calloc(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    r->node = node;
    if (!PVMC_HASH_ADD(hh, t->rows, node, r)) {
        free(r);
        return NULL;
    }
    return r;
}

static void drop(struct dpi_nart *t, struct row *r)
{
    HASH_DELETE(hh, t->rows, r);
    free(r);
}

/* ---- the file ---- */

static bool parse_hardware(const char *text, uint8_t hardware[6])
{
    unsigned v[6];
    int end = 0;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &end) != 6 || text[end])
        return false;
    for (int i = 0; i < 6; i++)
        hardware[i] = (uint8_t)v[i];
    return !(hardware[0] & 1); /* not a multicast address */
}

/* Returns NULL, or what is wrong with the line. */
static const char *take_line(struct dpi_nart *t, char *line)
{
    char *rest, *number, *hardware, *interface;
    line[strcspn(line, "#\n")] = '\0';
    number = strtok_r(line, " \t", &rest);
    if (!number)
        return NULL;
    hardware = strtok_r(NULL, " \t", &rest);
    interface = strtok_r(NULL, " \t", &rest);
    char *end;
    unsigned long node = isdigit((unsigned char)*number) ? strtoul(number, &end, 10) : 0;
    if (!node || *end || node > UINT16_MAX - 1)
        return "the node id is not a number from 1 to 65534";
    uint8_t address[6];
    if (!hardware || !parse_hardware(hardware, address))
        return "the hardware address is not of the form 02:00:00:00:00:01";
    if (strtok_r(NULL, " \t", &rest) || (interface && strlen(interface) >= sizeof((struct row *)0)->interface))
        return "there is more than node id, hardware address and interface";
    if (find(t, (uint16_t)node))
        return "this node has a line already";
    struct row *r = add(t, (uint16_t)node);
    if (!r)
        return "the table is full";
    memcpy(r->hardware, address, sizeof address);
    strcpy(r->interface, interface ? interface : "");
    r->fixed = true;
    return NULL;
}

static int read_file(struct dpi_nart *t, FILE *file, const char *path)
{
    char line[LINE_MAX_BYTES];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        const char *wrong = strchr(line, '\n') || feof(file) ? take_line(t, line) : "the line is too long";
        if (wrong) {
            pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s", path, number, wrong);
            return PVMC_EFORMAT;
        }
    }
    return ferror(file) ? PVMC_ESYSTEM : 0;
}

int dpi_nart_open(const char *path, struct dpi_nart **out)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    if (path && !file)
        return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : PVMC_ENOTFOUND;
    struct dpi_nart *t = calloc(1, sizeof *t);
    int rc = !t ? PVMC_ENOMEM : file ? read_file(t, file, path) : 0;
    if (file)
        fclose(file);
    if (rc) {
        dpi_nart_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void dpi_nart_close(struct dpi_nart *t)
{
    struct row *r, *next;
    if (!t)
        return;
    HASH_ITER (hh, t->rows, r, next)
        drop(t, r);
    free(t);
}

/* ---- the table ---- */

int dpi_nart_find(struct dpi_nart *t, uint16_t node, int64_t now_us, uint8_t hardware[6])
{
    struct row *r = find(t, node);
    if (r && !r->fixed && now_us - r->heard_us > DPI_NART_AGE_US) {
        drop(t, r);
        r = NULL;
    }
    if (!r)
        return PVMC_ENOTFOUND;
    memcpy(hardware, r->hardware, sizeof r->hardware);
    return 0;
}

static void forget_oldest(struct dpi_nart *t)
{
    struct row *r = t->rows;
    while (r && r->fixed)
        r = r->hh.next;
    if (r)
        drop(t, r);
}

void dpi_nart_learn(struct dpi_nart *t, uint16_t node, const uint8_t hardware[6], int64_t now_us)
{
    struct row *r = find(t, node);
    if (!node || node == UINT16_MAX || hardware[0] & 1 || (r && r->fixed))
        return;
    if (r && !memcmp(r->hardware, hardware, sizeof r->hardware) && now_us - r->heard_us < DPI_NART_AGE_US / 16) {
        r->heard_us = now_us;
        return;
    }
    if (r)
        drop(t, r); /* to append it: rows are in order of confirmation */
    if (HASH_COUNT(t->rows) == DPI_NART_MAX)
        forget_oldest(t);
    r = add(t, node);
    if (!r)
        return;
    memcpy(r->hardware, hardware, sizeof r->hardware);
    r->heard_us = now_us;
}

uint16_t dpi_nart_node_of(const struct dpi_nart *t, const uint8_t hardware[6], const char *interface)
{
    for (const struct row *r = t->rows; r; r = r->hh.next)
        if (r->fixed && !memcmp(r->hardware, hardware, sizeof r->hardware) &&
            (!*r->interface || !strcmp(r->interface, interface)))
            return r->node;
    return 0;
}
