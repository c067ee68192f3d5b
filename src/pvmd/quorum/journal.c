/* journal.c - see journal.h. A record is a u32 length, 16 bytes of an HMAC-SHA256 of what follows, and the bytes. */
#include "journal.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"

#define PROOF_BYTES 16
#define MAGIC       "dpvm journal"

struct head {
    uint32_t length;
    uint8_t proof[PROOF_BYTES];
};

static int fd = -1; /* of the file that is written */
static size_t bytes;
static uint8_t key[PVMD_SECRET_BYTES];
static uint8_t *text; /* of the file that was read */
static size_t text_bytes, text_at;

/* ---- names ---- */

static int name(char path[PATH_MAX], const char *suffix)
{
    int rc = pvmc_config_daemon_file("pvmj", path, PATH_MAX - PVMD_SUFFIX_MAX - 8);
    if (!rc) {
        strcat(path, pvmd.file_suffix);
        strcat(path, suffix);
    }
    return rc;
}

/* ---- writing ---- */

static void drop(const char *why)
{
    pvmc_log(PVMC_LOG_WARNING, "no journal: %s; if this daemon is killed, it cannot take its machine back", why);
    pvmd_journal_remove();
}

static bool prove(const void *data, size_t length, uint8_t proof[PROOF_BYTES])
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    if (!HMAC(EVP_sha256(), key, sizeof key, data, length, mac, NULL))
        return false;
    memcpy(proof, mac, PROOF_BYTES);
    return true;
}

void pvmd_journal_add(const struct pvmc_buf *record)
{
    struct head head = {.length = htole32((uint32_t)record->length)};
    struct iovec pieces[] = {{&head, sizeof head}, {record->data, record->length}};
    if (fd < 0)
        return;
    size_t whole = sizeof head + record->length;
    if (pvmc_buf_error(record) || !prove(record->data, record->length, head.proof))
        drop("out of memory");
    else if (writev(fd, pieces, 2) != (ssize_t)whole)
        drop(errno ? strerror(errno) : "a short write");
    else
        bytes += whole;
}

static void put_owner(const struct pvmd_journal_owner *owner)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_string(&b, MAGIC);
    pvmc_buf_put_u32(&b, PVMC_DAEMON_PROTOCOL);
    pvmc_buf_put_bytes(&b, owner->machine.id, sizeof owner->machine.id);
    pvmc_buf_put_bytes(&b, owner->machine.secret, sizeof owner->machine.secret);
    pvmc_buf_put_u32(&b, owner->incarnation);
    pvmc_buf_put_u32(&b, owner->next_index);
    pvmd_journal_add(&b);
    if (!pvmc_buf_error(&b))
        OPENSSL_cleanse(b.data, b.length);
    pvmc_buf_free(&b);
}

int pvmd_journal_begin(const struct pvmd_journal_owner *owner)
{
    char path[PATH_MAX];
    if (fd >= 0)
        close(fd);
    fd = -1;
    bytes = 0;
    int rc = name(path, ".new");
    if (rc)
        return rc;
    pvmd_sweeper_know_draft(path);
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0600);
    if (fd < 0) {
        drop(strerror(errno));
        return PVMC_ESYSTEM;
    }
    memcpy(key, owner->machine.secret, sizeof key);
    put_owner(owner);
    return fd >= 0 ? 0 : PVMC_ESYSTEM;
}

void pvmd_journal_put(void)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (fd < 0 || name(from, ".new") || name(to, ""))
        return;
    if (rename(from, to))
        drop(strerror(errno));
}

size_t pvmd_journal_bytes(void)
{
    return bytes;
}

void pvmd_journal_remove(void)
{
    char path[PATH_MAX];
    if (fd >= 0)
        close(fd);
    fd = -1;
    bytes = 0;
    if (!name(path, ".new"))
        unlink(path);
    if (!name(path, ""))
        unlink(path);
    OPENSSL_cleanse(key, sizeof key);
}

/* ---- reading ---- */

static bool is_private(int file, size_t *length)
{
    struct stat st;
    if (fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IRWXG | S_IRWXO))
        return false;
    *length = (size_t)st.st_size;
    return true;
}

static bool read_all(int file, size_t length)
{
    text = malloc(length + 1);
    text_at = text_bytes = 0;
    while (text && text_bytes < length) {
        ssize_t n = read(file, text + text_bytes, length - text_bytes);
        if (n <= 0)
            break;
        text_bytes += (size_t)n;
    }
    return text != NULL;
}

static bool load(void)
{
    char path[PATH_MAX];
    size_t length;
    int file = name(path, "") ? -1 : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool good = is_private(file, &length);
    if (!good)
        pvmc_log(PVMC_LOG_WARNING, "not using journal %s: it is not a private file of this user; remove it", path);
    good = good && read_all(file, length);
    close(file);
    return good;
}

/* The next record that the key proves; false at the end. Without a proof for the first one, which holds the key. */
static bool next(struct pvmc_buf *record, bool is_proven)
{
    struct head head;
    uint8_t proof[PROOF_BYTES];
    if (text_bytes - text_at < sizeof head)
        return false;
    memcpy(&head, text + text_at, sizeof head);
    size_t length = le32toh(head.length);
    const uint8_t *data = text + text_at + sizeof head;
    if (length > text_bytes - text_at - sizeof head)
        return false;
    if (is_proven && (!prove(data, length, proof) || CRYPTO_memcmp(proof, head.proof, sizeof proof)))
        return false;
    pvmc_buf_view(record, data, length);
    text_at += sizeof head + length;
    return true;
}

static void forget(void)
{
    if (text)
        OPENSSL_cleanse(text, text_bytes);
    free(text);
    text = NULL;
}

static bool get_owner(struct pvmc_buf *b, struct pvmd_journal_owner *owner)
{
    char magic[sizeof MAGIC];
    pvmc_buf_get_string_to(b, magic, sizeof magic);
    uint32_t protocol = pvmc_buf_get_u32(b);
    const uint8_t *id = pvmc_buf_get_bytes(b, sizeof owner->machine.id);
    const uint8_t *secret = pvmc_buf_get_bytes(b, sizeof owner->machine.secret);
    owner->incarnation = pvmc_buf_get_u32(b);
    owner->next_index = pvmc_buf_get_u32(b);
    if (pvmc_buf_end(b) || strcmp(magic, MAGIC) || protocol != PVMC_DAEMON_PROTOCOL)
        return false;
    memcpy(owner->machine.id, id, sizeof owner->machine.id);
    memcpy(owner->machine.secret, secret, sizeof owner->machine.secret);
    return true;
}

bool pvmd_journal_read(struct pvmd_journal_owner *owner)
{
    struct pvmc_buf b;
    if (!load())
        return false;
    bool good = next(&b, false) && get_owner(&b, owner);
    if (good) {
        memcpy(key, owner->machine.secret, sizeof key);
        text_at = 0;
        good = next(&b, true);
    }
    if (!good) {
        pvmc_log(PVMC_LOG_WARNING, "the journal of the last daemon is damaged or of another version: not used");
        forget();
    }
    return good;
}

int pvmd_journal_replay(int (*each)(struct pvmc_buf *record))
{
    struct pvmc_buf b;
    int rc = 0;
    while (!rc && next(&b, true))
        rc = each(&b);
    forget();
    return rc;
}
