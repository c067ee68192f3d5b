/* cure.c - remedies for error messages of ssh and similar programs. */
#include <stdio.h>
#include <string.h>
#include "console/console.h"
#include "cure.h"

static const struct {
    const char *symptom, *cure;
} cures[] = {
    {"Permission denied", "install your key on %s: ssh-copy-id %s. `ssh %s true` must work without a prompt"},
    {"Host key verification failed", "accept its key once: ssh %s true (or ssh-keyscan %s >> ~/.ssh/known_hosts)"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key has changed; if that is expected: ssh-keygen -R %s"},
    {"Could not resolve",
     "the name %s is unknown here: check its spelling, or add it to DNS, /etc/hosts or ~/.ssh/config"},
    {"Connection refused", "no ssh server answers on %s: start sshd there, or set its port in ~/.ssh/config"},
    {"No route to host", "%s is unreachable from here: check that it is running and that the network is set up"},
    {"timed out", "%s does not answer: check that it is running and that no firewall blocks ssh"},
    {"Connection closed", "%s closed the connection: see its sshd log (often a limit, or a missing /run/sshd)"},
    {"no daemon at", "install dpvm on %s, or give the path of its pvmd3: add '%s dx=PATH', or set PVM_DPATH"},
    {"not found", "PVM_RSH names a command that does not exist; correct or unset it"},
};

const char *cure_find(const char *text)
{
    for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
        if (strstr(text, cures[i].symptom) != NULL)
            return cures[i].cure;
    return NULL;
}

void cure_fill(const char *cure, const char *host, char *line, size_t size)
{
    size_t used = 0;

    for (const char *p = cure; *p != '\0' && used < size - 1; p++) {
        if (p[0] == '%' && p[1] == 's') {
            used += (size_t)snprintf(line + used, size - used, "%s", host);
            used = used < size ? used : size - 1;
            p++;
        } else {
            line[used++] = *p;
        }
    }
    line[used] = '\0';
}

void cure_print(const char *cure, const char *host)
{
    char line[1024];

    cure_fill(cure, host, line, sizeof(line));
    advise("Cure for %s: %s.", host, line);
}
