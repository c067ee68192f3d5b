/* input.c - see input.h. */
#include "input.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "dpvm.h"
#include "pvm3.h"

static struct {
    const int *tids;
    int count;
    bool *waits; /* for each task: it has not taken the block yet */
    char block[PVM_INPUT_MAX];
    int length; /* of the block; 0: the end of the input */
    bool full;  /* some of them have not */
    bool over;
} input = {.over = true};

void run_input_start(const int *tids, int n)
{
    input.waits = calloc((size_t)n + 1, sizeof(*input.waits));
    input.tids = tids;
    input.count = n;
    input.over = n <= 0 || input.waits == NULL;
}

bool run_input_is_elsewhere(void)
{
    return !input.over && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp();
}

int run_input_fd(void)
{
    return input.over || input.full || run_input_is_elsewhere() ? -1 : STDIN_FILENO;
}

bool run_input_is_full(void)
{
    return input.full;
}

/* Offers the block to those who have not taken it. Returns whether somebody has, or may do so later. */
static bool offer_block(void)
{
    bool wanted = false;

    input.full = false;
    for (int i = 0; i < input.count; i++) {
        if (!input.waits[i])
            continue;
        int code = pvm_input(input.tids[i], input.block, input.length);
        input.waits[i] = code == PvmOutOfRes;
        input.full = input.full || input.waits[i];
        wanted = wanted || code >= 0 || code == PvmOutOfRes;
    }
    return wanted;
}

static bool read_block(void)
{
    ssize_t n = read(STDIN_FILENO, input.block, sizeof(input.block));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    input.length = n > 0 ? (int)n : 0;
    for (int i = 0; i < input.count; i++)
        input.waits[i] = true;
    return true;
}

void run_input_pass(void)
{
    if (input.over || (!input.full && !read_block()))
        return;
    bool wanted = offer_block();
    input.over = !input.full && (!wanted || input.length == 0);
}

void run_input_stop(void)
{
    free(input.waits);
    input.waits = NULL;
    input.over = true;
    input.full = false;
}
