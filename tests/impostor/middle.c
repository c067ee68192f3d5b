/*
 * middle - a man in the middle of a daemon's calls, as with a redirect rule on the path. It forwards all bytes before
 * TLS, so that each side sees valid proofs, and then plays the called side with its own certificate. For each call it
 * prints the number of payload bytes that it received in plain text.
 *
 *   middle PORT        its own calls carry the mark 7, so that the rule ignores them
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "pvmd/net/preface.h"
#include "impostor.h"

#define MARK                 7
#define ORIGINAL_DESTINATION 80 /* SO_ORIGINAL_DST; its header conflicts with netinet/in.h */

static bool forward(int from, int to, size_t length)
{
    uint8_t bytes[256];
    return recv(from, bytes, length, MSG_WAITALL) == (ssize_t)length && send(to, bytes, length, 0) == (ssize_t)length;
}

/* A connection to the caller's original destination. */
static int call_the_right_one(int caller)
{
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    int mark = MARK, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (getsockopt(caller, SOL_IP, ORIGINAL_DESTINATION, &to, &size) ||
        setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) || connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void serve(int caller)
{
    struct impostor i = {.kind = SELF_SIGNED};
    int called = call_the_right_one(caller);
    size_t payload = 0;
    bool let_in = called >= 0 && forward(called, caller, PVMD_NONCE_BYTES) &&
                  forward(caller, called, PVMD_PREFACE_BYTES) && forward(called, caller, PVMD_ANSWER_BYTES) &&
                  forward(caller, called, 32) && forward(called, caller, 32);
    if (let_in)
        payload = impostor_talks_tls(&i, caller, false);
    printf("%s, %zu bytes of payload\n", let_in ? "between the two" : "kept out", payload);
    fflush(stdout);
    close(called);
    close(caller);
}

int main(int argc, char **argv)
{
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? (uint16_t)atoi(argv[1]) : 0)};
    if (bind(listening, (struct sockaddr *)&own, sizeof own) || listen(listening, 16)) {
        perror("middle");
        return 1;
    }
    for (;;)
        serve(accept(listening, NULL, NULL));
}
