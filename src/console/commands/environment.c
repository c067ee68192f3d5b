/* environment.c - the console's environment and the part of it that spawned tasks get: setenv, export, unexport. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"
#include "console/command.h"
#include "console/line.h"

extern char **environ;

int environment_setenv(int argc, char **argv)
{
    if (argc == 1) {
        for (char **variable = environ; *variable != NULL; variable++)
            puts(*variable);
        return CONSOLE_OK;
    }
    if (argc == 2) {
        const char *value = getenv(argv[1]);
        if (value != NULL)
            puts(value);
        return CONSOLE_OK;
    }
    char *value = words_join(argc - 2, argv + 2);
    bool good = value != NULL && setenv(argv[1], value, 1) == 0;
    if (!good)
        advise("setenv: %s: %s", argv[1], strerror(value != NULL ? errno : ENOMEM));
    free(value);
    return good ? CONSOLE_OK : CONSOLE_FAILED;
}

int environment_export(int argc, char **argv)
{
    int result = CONSOLE_OK;

    if (argc == 1) {
        const char *names = getenv("PVM_EXPORT");
        printf("PVM_EXPORT=%s\n", names != NULL ? names : "");
    }
    for (int i = 1; i < argc; i++) {
        int code = pvm_export(argv[i]);
        if (code < 0) {
            advise("export: %s: %s", argv[i], error_text(code));
            result = CONSOLE_FAILED;
        }
    }
    return result;
}

int environment_unexport(int argc, char **argv)
{
    int result = CONSOLE_OK;

    for (int i = 1; i < argc; i++) {
        int code = pvm_unexport(argv[i]);
        if (code < 0) {
            advise("unexport: %s: %s", argv[i], error_text(code));
            result = CONSOLE_FAILED;
        }
    }
    return result;
}
