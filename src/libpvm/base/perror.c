/* perror.c - pvm_errno, pvm_perror() and the error line of a failing call. */
#include "perror.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "call.h"
#include "compat.h"
#include "options.h"
#include "task.h"

#define NAMELESS(code) [code] = "Error " #code,

int pvm_errno;
int pvm_nerr = PVMC_PUBLIC_ERROR_COUNT;
char *pvm_errlist[PVMC_PUBLIC_ERROR_COUNT] = {
#define X(code, text) [-(code)] = text,
    PVMC_PUBLIC_ERRORS(X)
#undef X
        NAMELESS(0) NAMELESS(1) NAMELESS(9) NAMELESS(11) NAMELESS(13)};

const char *pvmi_identity(void)
{
    static char text[24];
    if (pvmi_task.tid)
        snprintf(text, sizeof text, "t%x", pvmi_task.tid);
    else
        snprintf(text, sizeof text, "pid%d", (int)getpid());
    return text;
}

/* Applies PvmAutoErr after an error line: values 2 and 3 end the process. */
static void act_on_error(int code)
{
    if (pvmi_options.auto_err == PVMI_AUTOERR_EXIT)
        exit(code);
    if (pvmi_options.auto_err == PVMI_AUTOERR_ABORT)
        abort();
}

int lpvmerr(const char *call, int code)
{
    if (code >= 0)
        return code;
    pvm_errno = code;
    if (pvmi_options.auto_err) {
        fprintf(stderr, "libpvm [%s]: %s(): %s\n", pvmi_identity(), call, pvmc_error_text(code));
        act_on_error(code);
    }
    return code;
}

int pvmi_return_error(const char *call, int rc)
{
    return lpvmerr(call, pvmc_error_public(rc));
}

int pvmi_return_answer(const char *call, int rc)
{
    static const int answers[] = {PvmNoTask, PvmNoHost,   PvmNotFound,     PvmDenied,
                                  PvmExists, PvmNoParent, PvmParentNotSet, PvmHostFail};
    int code = pvmc_error_public(rc);
    for (unsigned i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (code == answers[i])
            return pvm_errno = code;
    return pvmi_return(call, rc);
}

int pvm_perror(char *msg)
{
    PVMI_BEGIN(TEV_PERROR, PVMI_INT(ERI, pvm_errno), PVMI_STRING(ERR, msg));
    fprintf(stderr, "libpvm [%s]: %s: %s\n", pvmi_identity(), msg ? msg : "(null)", pvmc_error_text(pvm_errno));
    PVMI_END(TEV_PERROR, PVMI_INT(CC, PvmOk));
    return PvmOk;
}

char *pvm_strerror(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    const char *text = pvmc_error_text(pvm_errno);
    PVMI_END(PVMI_UNTRACED);
    return (char *)text;
}

/* Log lines look like those of failing calls. PvmAutoErr 0 silences both, unless PVM_LOG asks for log lines. */
static void log_line(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level;
    (void)arg;
    if (pvmi_options.auto_err || !strcmp(pvmc_config_origin(PVMC_SETTING_LOG), "environment"))
        fprintf(stderr, "libpvm [%s]: %s\n", pvmi_identity(), line);
}

__attribute__((constructor)) static void direct_log(void)
{
    pvmc_log_to(log_line, NULL, PVMC_LOG_WARNING);
    pvmc_log_to(log_line, NULL, (enum pvmc_log_level)pvmc_config_integer(PVMC_SETTING_LOG));
}
