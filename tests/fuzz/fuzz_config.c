/*
 * fuzz_config.c - values of settings: any text for any setting is accepted within its limits or refused with a message.
 * Input: NAME=text.
 */
#include "fuzz.h"
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"

static void check_value(enum pvmc_setting which, const char *text)
{
    const struct pvmc_setting_row *row = &pvmc_setting_table[which];
    setenv(row->name, text, 1);
    int64_t value = pvmc_config_integer(which);
    if (row->minimum)
        MUST(value >= row->minimum);
    if (row->maximum)
        MUST(value <= row->maximum);
    if (row->kind == PVMC_KIND_BYTES || row->kind == PVMC_KIND_SECONDS || row->kind == PVMC_KIND_FACTOR)
        MUST(value >= 0);
    MUST(!strcmp(pvmc_config_origin(which), *text ? "environment" : "default"));
    unsetenv(row->name);
}

static void check_setting(enum pvmc_setting which, const char *text, size_t why_bytes)
{
    char why[512];
    memset(why, 'x', sizeof why);
    if (pvmc_config_check(which, text, why, why_bytes))
        MUST(memchr(why, 0, why_bytes) && why[0]);
    else
        check_value(which, text);
}

/* The error is logged once, and the default is used. */
static void use_unchecked(enum pvmc_setting which, const char *text)
{
    const char *name = pvmc_setting_table[which].name;
    setenv(name, text, 1);
    MUST(pvmc_config_text(which));
    pvmc_config_bool(which);
    pvmc_config_us(which);
    unsetenv(name);
}

/* An unknown name: a warning suggests the setting that may have been meant. */
static void check_unknown(const char *name, const char *text)
{
    char path[256];
    if (strncmp(name, "PVM_", 4) || setenv(name, text, 1))
        return;
    pvmc_config_warn_unknown();
    if (!pvmc_config_daemon_file("pvmd", path, sizeof path))
        MUST(memchr(path, 0, sizeof path));
    unsetenv(name);
}

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pvmc_log_to(quiet, NULL, PVMC_LOG_ERROR);
    char line[8192], root[256];
    if (size >= sizeof line)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    char *text = strchr(line, '=');
    if (!text)
        return 0;
    *text++ = '\0';
    for (int i = 0; i < PVMC_SETTING_COUNT; i++)
        if (!strcmp(line, pvmc_setting_table[i].name)) {
            check_setting(i, text, size & 1 ? 512 : 8);
            use_unchecked(i, text);
        }
    check_unknown(line, text);
    if (!pvmc_config_root_of(text, root, sizeof root))
        MUST(memchr(root, 0, sizeof root));
    return 0;
}
