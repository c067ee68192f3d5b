#include <dirent.h>
#include <err.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "files.h"

enum { NAMES_MAX = 4096, LINES_SHOWN = 30 };

struct files_snapshot {
    const char *folder;
    int count;
    char *names[NAMES_MAX];
};

struct files_snapshot *files_snapshot_take(const char *folder)
{
    struct files_snapshot *s = calloc(1, sizeof *s);
    DIR *dir = opendir(folder);
    if (!s || !dir)
        err(2, "run: %s", folder);
    s->folder = folder;
    for (struct dirent *entry; s->count < NAMES_MAX && (entry = readdir(dir));)
        if (strncmp(entry->d_name, "pvm", 3) == 0 && entry->d_type != DT_DIR)
            s->names[s->count++] = strdup(entry->d_name);
    closedir(dir);
    return s;
}

static bool contains(const struct files_snapshot *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->names[i], name) == 0)
            return true;
    return false;
}

static void free_snapshot(struct files_snapshot *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->names[i]);
    free(s);
}

int files_snapshot_compare(struct files_snapshot *before)
{
    struct files_snapshot *now = files_snapshot_take(before->folder);
    int count = 0;
    for (int i = 0; i < now->count; i++)
        if (!contains(before, now->names[i])) {
            printf("left behind: %s/%s\n", now->folder, now->names[i]);
            count++;
        }
    free_snapshot(now);
    free_snapshot(before);
    return count;
}

static FTS *walk(const char *folder)
{
    char *const roots[] = {(char *)folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        err(2, "run: %s", folder);
    return tree;
}

int files_left(const char *folder)
{
    int count = 0;
    FTS *tree = walk(folder);
    for (FTSENT *entry; (entry = fts_read(tree));)
        if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP && strncmp(entry->fts_name, "pvml.", 5) != 0) {
            printf("left behind: %s\n", entry->fts_path);
            count++;
        }
    fts_close(tree);
    return count;
}

static void show(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    printf("--- %s\n", path);
    for (int i = 0; file && i < LINES_SHOWN && fgets(line, sizeof line, file); i++)
        printf("    %s", line);
    if (file)
        fclose(file);
}

int files_show(const char *folder, const char *prefix, const char *heading)
{
    int count = 0;
    FTS *tree = walk(folder);
    for (FTSENT *entry; (entry = fts_read(tree));)
        if (entry->fts_info == FTS_F && strncmp(entry->fts_name, prefix, strlen(prefix)) == 0 &&
            entry->fts_statp->st_size > 0) {
            if (count++ == 0)
                printf("%s\n", heading);
            show(entry->fts_path);
        }
    fts_close(tree);
    return count;
}

void files_remove(const char *folder)
{
    FTS *tree = walk(folder);
    for (FTSENT *entry; (entry = fts_read(tree));)
        if (entry->fts_info != FTS_D && remove(entry->fts_accpath) < 0)
            warn("run: %s", entry->fts_path);
    fts_close(tree);
}
