/* startup.c - start texts and start lines. */
#include "startup.h"
#include <ctype.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/message/proto.h"
#include "core/version.h"

#define HEX_COLUMNS 72
#define TEXT_MAX    PVMD_START_LINE_MAX /* bytes of each text */

static const char magic[] = "dpvm ";
static const char last_line[] = "end\n";

/* ---- start texts ---- */

static void put_fields(struct pvmc_buf *b, const struct pvmd_start_text *t)
{
    pvmc_buf_put_bytes(b, t->machine.id, sizeof t->machine.id);
    pvmc_buf_put_bytes(b, t->machine.secret, sizeof t->machine.secret);
    pvmc_buf_put_u32(b, t->master_index);
    pvmc_buf_put_u32(b, t->master_incarnation);
    pvmc_buf_put_u32(b, t->master_port);
    pvmc_buf_put_string(b, t->master_name);
    pvmc_buf_put_u32(b, t->index);
    pvmc_buf_put_u32(b, t->incarnation);
    pvmc_buf_put_string(b, t->name);
    pvmc_buf_put_i32(b, t->speed);
    pvmc_buf_put_i32(b, t->slots);
    pvmc_buf_put_string(b, t->exec_path);
    pvmc_buf_put_string(b, t->working_dir);
    pvmc_buf_put_string(b, t->debugger);
    pvmc_buf_put_string(b, t->listen_ip);
    pvmc_buf_put_u8(b, t->shares_machine);
    pvmc_buf_put_u32(b, t->setting_count);
    for (unsigned i = 0; i < t->setting_count; i++) {
        pvmc_buf_put_string(b, t->settings[i].name);
        pvmc_buf_put_string(b, t->settings[i].value);
    }
}

/* Writes lines of HEX_COLUMNS. Returns the end. */
static char *print_hex(char *to, const struct pvmc_buf *b)
{
    for (size_t i = 0; i < b->length; i++) {
        to += sprintf(to, "%02x", b->data[i]);
        if ((i + 1) % (HEX_COLUMNS / 2) == 0 || i + 1 == b->length)
            *to++ = '\n';
    }
    return to;
}

char *pvmd_start_text_format(const struct pvmd_start_text *t)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    put_fields(&b, t);
    char *text = pvmc_buf_error(&b) ? NULL : malloc(3 * b.length + 64); /* two digits and at most a newline each */
    if (text)
        strcpy(print_hex(text + sprintf(text, "%s%d\n", magic, PVMC_DAEMON_PROTOCOL), &b), last_line);
    if (b.data)
        OPENSSL_cleanse(b.data, b.length);
    pvmc_buf_free(&b);
    return text;
}

/* Reads a text of at most TEXT_MAX bytes. NULL only when out of memory, with the buffer's error set. */
static char *get_text(struct pvmc_buf *b)
{
    char *text = pvmc_buf_get_string(b);
    if (text && strlen(text) > TEXT_MAX)
        b->error = PVMC_ELIMIT;
    return text;
}

static void get_settings(struct pvmc_buf *b, struct pvmd_start_text *t)
{
    uint32_t count = pvmc_buf_get_u32(b);
    if (count > PVMD_START_SETTINGS)
        b->error = PVMC_ELIMIT;
    for (uint32_t i = 0; i < count && !pvmc_buf_error(b); i++) {
        struct pvmd_start_setting *s = &t->settings[t->setting_count++];
        s->name = get_text(b);
        s->value = get_text(b);
    }
}

static int get_fields(struct pvmc_buf *b, struct pvmd_start_text *t)
{
    pvmc_buf_get_bytes_to(b, t->machine.id, sizeof t->machine.id);
    pvmc_buf_get_bytes_to(b, t->machine.secret, sizeof t->machine.secret);
    t->master_index = pvmc_buf_get_u32(b);
    t->master_incarnation = pvmc_buf_get_u32(b);
    t->master_port = pvmc_buf_get_u32(b);
    t->master_name = get_text(b);
    t->index = pvmc_buf_get_u32(b);
    t->incarnation = pvmc_buf_get_u32(b);
    t->name = get_text(b);
    t->speed = pvmc_buf_get_i32(b);
    t->slots = pvmc_buf_get_i32(b);
    t->exec_path = get_text(b);
    t->working_dir = get_text(b);
    t->debugger = get_text(b);
    t->listen_ip = get_text(b);
    t->shares_machine = pvmc_buf_get_u8(b);
    get_settings(b, t);
    return pvmc_buf_end(b);
}

static bool is_index(uint32_t index)
{
    return index >= 1 && index <= PVMC_HOST_INDEX_MAX;
}

static int check_fields(const struct pvmd_start_text *t)
{
    if (!is_index(t->index) || !is_index(t->master_index) || t->index == t->master_index)
        return PVMC_EFORMAT;
    if (!*t->name || strlen(t->name) > PVMD_HOST_NAME_MAX || strlen(t->master_name) > PVMD_HOST_NAME_MAX)
        return PVMC_EFORMAT;
    if (t->slots < 0 || t->slots > PVMD_SLOTS_MAX)
        return PVMC_EFORMAT;
    return t->speed < 1 || t->speed > PVMD_SPEED_MAX ? PVMC_EFORMAT : 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads hex digits and white space up to `end` into b, which the caller frees. */
static int read_hex(const char *text, const char *end, struct pvmc_buf *b)
{
    int high = -1;
    for (; text < end; text++) {
        int digit = hex_digit(*text);
        if (digit < 0 && *text != '\n' && *text != '\r' && *text != ' ')
            return PVMC_EFORMAT;
        if (digit >= 0 && high >= 0)
            pvmc_buf_put_u8(b, (uint8_t)(high << 4 | digit));
        if (digit >= 0)
            high = high >= 0 ? -1 : digit;
    }
    return high >= 0 ? PVMC_EFORMAT : pvmc_buf_error(b);
}

/* The newline before the last line; NULL if that line is not whole. */
static const char *find_end(const char *text, size_t length)
{
    const char *end = memmem(text, length, "\nend", 4);
    return end && end + 4 < text + length && (end[4] == '\n' || end[4] == '\r') ? end : NULL;
}

bool pvmd_start_text_is_whole(const char *text, size_t length)
{
    return find_end(text, length) != NULL;
}

/* Reads the line "dpvm <protocol>". Returns what follows it, or NULL. */
static const char *read_first_line(const char *text, const char *end, int *protocol)
{
    size_t n = sizeof magic - 1;
    *protocol = 0;
    if ((size_t)(end - text) < n || memcmp(text, magic, n))
        return NULL;
    for (text += n; text < end && *text >= '0' && *text <= '9' && *protocol < 100000; text++)
        *protocol = *protocol * 10 + (*text - '0');
    return text;
}

int pvmd_start_text_parse(const char *text, size_t length, struct pvmd_start_text *t)
{
    struct pvmc_buf b;
    int protocol;
    memset(t, 0, sizeof *t);
    const char *end = find_end(text, length), *hex = end ? read_first_line(text, end, &protocol) : NULL;
    if (!hex)
        return PVMC_EFORMAT;
    if (protocol != PVMC_DAEMON_PROTOCOL)
        return PVMC_EVERSION;
    pvmc_buf_init(&b);
    int rc = read_hex(hex, end, &b);
    rc = rc ? rc : get_fields(&b, t);
    rc = rc ? rc : check_fields(t);
    if (b.data)
        OPENSSL_cleanse(b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

void pvmd_start_text_free(struct pvmd_start_text *t)
{
    free(t->master_name);
    free(t->name);
    free(t->exec_path);
    free(t->working_dir);
    free(t->debugger);
    free(t->listen_ip);
    for (unsigned i = 0; i < t->setting_count; i++) {
        free(t->settings[i].name);
        free(t->settings[i].value);
    }
    OPENSSL_cleanse(t, sizeof *t);
}

/* ---- start lines ---- */

/* Copies the text between the brackets of "key<...>" to value[size]. False: it is missing or too long. */
static bool get_field(const char *line, const char *key, char *value, size_t size)
{
    size_t key_length = strlen(key);
    const char *at = line;
    while ((at = strstr(at, key)) && !(at[key_length] == '<' && (at == line || at[-1] == ' ')))
        at++;
    const char *end = at ? strchr(at, '>') : NULL;
    if (!end)
        return false;
    at += key_length + 1;
    if ((size_t)(end - at) >= size)
        return false;
    memcpy(value, at, (size_t)(end - at));
    value[end - at] = '\0';
    return true;
}

/* A number that is the whole text. */
static bool get_number(const char *text, int base, unsigned long max, unsigned long *value)
{
    char *end;
    *value = strtoul(text, &end, base);
    return *text >= '0' && *text <= '9' && !*end && *value <= max;
}

static bool is_of(const char *text, const char *others)
{
    const char *at = text;
    while (isalnum((unsigned char)*at) || (*at && strchr(others, *at)))
        at++;
    return at > text && !*at;
}

static bool is_arch(const char *text)
{
    return is_of(text, "_-");
}

static void get_version(const char *text, struct pvmd_start_line *line)
{
    if (!get_field(text, "dpvm", line->version, sizeof line->version) || !is_of(line->version, "._+~-"))
        line->version[0] = '\0';
}

/* A list of at most `max` addresses; a malformed one counts as empty. */
static void get_addresses(const char *line, const char *key, unsigned max, struct pvmw_addresses *list)
{
    char text[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    if (!get_field(line, key, text, sizeof text) || pvmw_addresses_parse(text, list) || list->count > max)
        memset(list, 0, sizeof *list);
}

static enum pvmd_start_line_kind parse_error(const char *text, struct pvmd_start_line *line)
{
    char *end;
    long code = strtol(text, &end, 10);
    if (code >= 0 || code < -100 || *end != '>')
        return PVMD_LINE_NOISE;
    line->code = (int)code;
    snprintf(line->why, sizeof line->why, "%s", end[1] == ' ' ? end + 2 : end + 1);
    return PVMD_LINE_ERROR;
}

static bool parse_start(const char *text, struct pvmd_start_line *line)
{
    char number[16];
    unsigned long dsig, port;
    if (!get_field(text, "arch", line->arch, sizeof line->arch) || !is_arch(line->arch))
        return false;
    if (!get_field(text, "dsig", number, sizeof number) || !get_number(number, 0, UINT32_MAX, &dsig))
        return false;
    if (!get_field(text, "port", number, sizeof number) || !get_number(number, 10, UINT16_MAX, &port) || !port)
        return false;
    line->dsig = (pvmc_dsig)dsig;
    line->port = (uint16_t)port;
    unsigned long slots = 1;
    if (get_field(text, "slots", number, sizeof number) && !get_number(number, 10, PVMD_SLOTS_MAX, &slots))
        return false;
    line->slots = (int)slots;
    get_addresses(text, "ssh", 1, &line->ssh);
    get_addresses(text, "ip", PVMW_ADDRESS_MAX, &line->addresses);
    if (!get_field(text, "key", line->key, sizeof line->key))
        line->key[0] = '\0';
    return true;
}

/* A prompt without a newline may precede the slave's line. */
enum pvmd_start_line_kind pvmd_start_line_parse(const char *text, struct pvmd_start_line *line)
{
    static const char error_key[] = "dpvm-error<", start_key[] = "ddpro<";
    char number[16];
    unsigned long protocol;
    memset(line, 0, sizeof *line);
    const char *error = strstr(text, error_key), *start = strstr(text, start_key);
    if (strlen(text) > PVMD_START_LINE_MAX)
        return PVMD_LINE_NOISE;
    if (error)
        return parse_error(error + sizeof error_key - 1, line);
    if (!start || !get_field(start, "ddpro", number, sizeof number) || !get_number(number, 10, 1000000, &protocol))
        return PVMD_LINE_NOISE;
    line->protocol = (long)protocol;
    get_version(start, line);
    if (protocol != PVMC_DAEMON_PROTOCOL)
        return PVMD_LINE_OTHER_VERSION;
    return parse_start(start, line) ? PVMD_LINE_START : PVMD_LINE_NOISE;
}

void pvmd_start_line_begin(struct pvmd_start_line *line, uint16_t port)
{
    *line =
        (struct pvmd_start_line){.protocol = PVMC_DAEMON_PROTOCOL, .dsig = pvmc_dsig_own(), .slots = 1, .port = port};
    snprintf(line->arch, sizeof line->arch, "%s", pvmc_arch_own());
    snprintf(line->version, sizeof line->version, "%s", pvmc_version);
}

/* "client_ip client_port server_ip server_port": the third is an address of ours that the master can reach. */
void pvmd_start_line_add_ssh(struct pvmd_start_line *line)
{
    char ip[PVMW_ADDRESS_TEXT];
    union pvmw_address a;
    const char *connection = getenv("SSH_CONNECTION");
    if (!connection || sscanf(connection, "%*s %*s %79s", ip) != 1)
        return;
    if (!pvmw_address_parse(ip, line->port, &a) && !pvmw_address_is_link_local(&a))
        pvmw_addresses_add(&line->ssh, &a);
}

size_t pvmd_start_line_format(const struct pvmd_start_line *line, char *text, size_t size)
{
    char ssh[PVMW_ADDRESS_TEXT], list[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    pvmw_addresses_format(&line->ssh, ssh, sizeof ssh);
    pvmw_addresses_format(&line->addresses, list, sizeof list);
    int n = snprintf(text, size, "ddpro<%d>%s%s%s arch<%s> dsig<0x%08x> slots<%d> port<%u> ssh<%s> ip<%s>%s%s%s",
                     PVMC_DAEMON_PROTOCOL, *line->version ? " dpvm<" : "", line->version, *line->version ? ">" : "",
                     line->arch, line->dsig, line->slots, line->port, ssh, list, *line->key ? " key<" : "", line->key,
                     *line->key ? ">" : "");
    return (size_t)n < size ? (size_t)n : size - 1;
}

size_t pvmd_error_line_format(int code, const char *why, char *text, size_t size)
{
    int n = snprintf(text, size, "dpvm-error<%d> %s", code, why);
    return (size_t)n < size ? (size_t)n : size - 1;
}
