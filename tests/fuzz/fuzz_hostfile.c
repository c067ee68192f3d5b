/* fuzz_hostfile.c - hostfiles: no crash, and accepted entries can be passed to a launcher. */
#include "fuzz.h"
#include <string.h>
#include "core/log.h"
#include "pvmd/hosts/hostfile.h"
#include "pvmd/base/hosts.h"

static void ignore(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    MUST(strlen(line) < 2048);
}

static void check(const struct pvmd_host_spec *h)
{
    MUST(h->name && pvmd_host_name_is_valid(h->name) && h->name[0] != '-');
    MUST(!h->ip || pvmd_host_name_is_valid(h->ip));
    MUST(!h->login || (h->login[0] && h->login[0] != '-' && !strpbrk(h->login, " ;|&$`'\"<>()\n")));
    MUST(h->speed >= 0 && h->speed <= PVMD_SPEED_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvmd_hostfile file;
    pvmc_log_to(ignore, NULL, PVMC_LOG_DEBUG);
    if (pvmd_hostfile_parse("fuzz", (const char *)data, size, &file)) {
        MUST(!file.hosts && !file.count);
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        check(&file.hosts[i]);
        MUST(pvmd_hostfile_find(&file, file.hosts[i].name));
    }
    pvmd_hostfile_free(&file);
    return 0;
}
