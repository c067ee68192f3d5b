/* target.c - see target.h. */
#include "target.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' ? value : NULL;
}

int target_read(const char *argument, struct target *t, char *why, size_t size)
{
    static const struct {
        const char *key;
        size_t field;
    } options[] = {{"lo=", offsetof(struct target, login)},
                   {"dx=", offsetof(struct target, daemon)},
                   {"so=", offsetof(struct target, start)},
                   {"ip=", offsetof(struct target, host)}};

    *t = (struct target){.daemon = setting("PVM_DPATH")};
    if (words_split(argument, &t->words, why, size) != 0)
        return -1;
    snprintf(why, size, "no host is named");
    if (t->words.count == 0)
        return -1;
    t->name = t->host = t->words.word[0];
    for (int i = 1; i < t->words.count; i++)
        for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++)
            if (strncmp(t->words.word[i], options[o].key, strlen(options[o].key)) == 0)
                *(const char **)(void *)((char *)t + options[o].field) = t->words.word[i] + strlen(options[o].key);
    return 0;
}

void target_free(struct target *t)
{
    words_free(&t->words);
    *t = (struct target){0};
}

bool target_is_loopback(const struct target *t)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    bool loopback = false;

    if (getaddrinfo(t->host, NULL, &hints, &list) != 0)
        return false;
    if (list->ai_family == AF_INET)
        loopback = ntohl(((struct sockaddr_in *)(void *)list->ai_addr)->sin_addr.s_addr) >> 24 == 127;
    else if (list->ai_family == AF_INET6)
        loopback = IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)(void *)list->ai_addr)->sin6_addr);
    freeaddrinfo(list);
    return loopback;
}

const char *target_launcher(const struct target *t)
{
    const char *rsh = setting("PVM_RSH"), *how = t->start != NULL ? t->start : setting("PVM_LAUNCHER");

    if (how != NULL && strcmp(how, "ssh") == 0)
        return "ssh";
    if (how != NULL && strcmp(how, "rsh") == 0)
        return rsh != NULL ? rsh : "rsh";
    if (how != NULL && *how != '\0' && strcmp(how, "auto") != 0 && strcmp(how, "pw") != 0)
        return NULL;
    if (target_is_loopback(t))
        return NULL;
    return rsh != NULL ? rsh : "ssh";
}

void target_daemon_path(const struct target *t, char *path, size_t size)
{
    char own[PATH_MAX - sizeof "/pvmd3"];

    if (t->daemon != NULL && *t->daemon != '\0') {
        snprintf(path, size, "%s", t->daemon);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL)
        *slash = '\0';
    snprintf(path, size, "%s%spvmd3", own, slash != NULL ? "/" : "");
}

void target_command(struct target_command *c, const struct target *t, const char *launcher, int limit_s,
                    const char *command)
{
    static char limit[40]; /* the same for all hosts */
    const char *words[TARGET_WORDS_MAX] = {NULL};
    int n = 0;
    bool ssh = strcmp(launcher, "ssh") == 0;

    if (!ssh && access(launcher, X_OK) != 0) { /* a command with arguments, for a shell */
        snprintf(c->text, sizeof(c->text), "exec %s \"$@\"", launcher);
        words[n++] = "/bin/sh";
        words[n++] = "-c";
        words[n++] = c->text;
    }
    words[n++] = launcher;
    if (ssh) { /* it must not prompt: the user would not see the question */
        snprintf(limit, sizeof(limit), "-oConnectTimeout=%d", limit_s);
        words[n++] = "-T";
        words[n++] = "-x";
        words[n++] = "-oBatchMode=yes";
        words[n++] = limit;
        if (t->login != NULL) {
            words[n++] = "-l";
            words[n++] = t->login;
        }
        words[n++] = "--";
    }
    words[n++] = t->host;
    if (!ssh && t->login != NULL) {
        words[n++] = "-l";
        words[n++] = t->login;
    }
    words[n++] = command;
    memcpy(c->argv, words, sizeof(words));
}
