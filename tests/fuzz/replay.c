/*
 * replay.c - main() of fuzz targets without libFuzzer: runs every file of a corpus folder. Of handwritten inputs it
 * also runs every prefix, so that each field is the last one once.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX 4096
#define HASH_DIGITS    40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly its size, so that a sanitizer or Valgrind detects each read past the end. */
static void run(const uint8_t *bytes, size_t length)
{
    uint8_t *input = malloc(length ? length : 1);
    if (!input)
        abort();
    memcpy(input, bytes, length);
    LLVMFuzzerTestOneInput(input, length);
    free(input);
}

/* Whether the fuzzer found it: such inputs are named by their hash. */
static bool was_found(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strlen(name) == HASH_DIGITS && strspn(name, "0123456789abcdef") == HASH_DIGITS;
}

static int replay(const char *path)
{
    uint8_t bytes[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return EXIT_FAILURE;
    }
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    printf("%s: %zu bytes\n", path, length);
    fflush(stdout); /* if the next call does not return, the last line names the input */
    for (size_t part = was_found(path) ? length : 0; part <= length; part++)
        run(bytes, part);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER (which must exist)\n", argv[0]);
        return EXIT_FAILURE;
    }
    int status = EXIT_SUCCESS, files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (replay(path))
            status = EXIT_FAILURE;
        files++;
    }
    closedir(folder);
    if (!files) {
        fprintf(stderr, "%s: no seeds\n", argv[1]);
        return EXIT_FAILURE;
    }
    return status;
}
