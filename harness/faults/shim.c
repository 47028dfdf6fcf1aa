/* Loaded before libc: counts, fails, tears and logs every call that changes a file below one folder.
 *
 * Everything it knows lies in one shared page, so that forked processes count together. Calls on
 * paths elsewhere pass untouched; what is written to a pipe or to a file outside is logged as a
 * mark, because that is how a program acknowledges. Nothing here allocates or takes a lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { NONE, KILL_BEFORE, KILL_AFTER, TORN, FAIL_EIO, FAIL_ENOSPC, FAIL_EINTR, SHORT,
            EIO_ON, ENOSPC_ON, EROFS_ON, SHORT_ON };

/* The numbers are the log's: replay.py reads them. */
enum op { OP_CREATE = 1, OP_WRITE, OP_TRUNCATE, OP_SYNC, OP_RENAME, OP_EXCHANGE, OP_LINK, OP_UNLINK,
          OP_MKDIR, OP_RMDIR, OP_SYMLINK, OP_MARK, OP_OPEN };

struct shared {
    int armed, kind, log;
    long nth, count, fired, jump;
    char root[512];
    unsigned char ops[65536]; /* which call each count was, as far as there is room */
};
static struct shared *shared;

struct header { uint32_t op, first, second, data; uint64_t inode; int64_t offset; };

/* Anew each time: of two processes that were forked before this, each counts for itself. */
void faults_share(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
void faults_arm(const char *root, int kind, long nth, int log) {
    snprintf(shared->root, sizeof shared->root, "%s", root);
    shared->kind = kind; shared->nth = nth; shared->log = log;
    shared->count = shared->fired = 0;
    __atomic_store_n(&shared->armed, 1, __ATOMIC_SEQ_CST);
}
void faults_disarm(void) { __atomic_store_n(&shared->armed, 0, __ATOMIC_SEQ_CST); }
long faults_count(void) { return shared->count; }
long faults_fired(void) { return shared->fired; }
int faults_op(long nth) { return nth > 0 && nth <= (long)sizeof shared->ops ? shared->ops[nth - 1] : 0; }

void faults_jump(long seconds) { shared->jump = seconds; }

static int watching(void) { return shared && shared->armed; }

static int below(const char *path) {
    size_t n = strlen(shared->root);
    return !strncmp(path, shared->root, n) && (path[n] == '/' || !path[n]);
}

static int fd_path(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
    if (n < 0) return 0;
    out[n] = 0;
    return 1;
}

static int full_path(int folder, const char *path, char *out) {
    if (path[0] == '/') { snprintf(out, PATH_MAX, "%s", path); return 1; }
    if (folder == AT_FDCWD) {
        if (syscall(SYS_getcwd, out, PATH_MAX) < 0) return 0;
    } else if (!fd_path(folder, out)) return 0;
    size_t n = strlen(out);
    snprintf(out + n, PATH_MAX - n, "/%s", path);
    return 1;
}

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); for (;;) pause(); }

static int errno_of(int kind) {
    switch (kind) {
    case FAIL_EIO: case EIO_ON: return EIO;
    case FAIL_ENOSPC: case ENOSPC_ON: return ENOSPC;
    case EROFS_ON: return EROFS;
    case FAIL_EINTR: return EINTR;
    default: return 0;
    }
}

/* What is to happen to this call: NONE, or the kind that is armed for it. */
static int strike(int op) {
    long now = __atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST);
    if (now <= (long)sizeof shared->ops) shared->ops[now - 1] = op;
    int kind = shared->kind;
    int lasts = kind >= EIO_ON;
    if (!kind || !(now == shared->nth || (lasts && now > shared->nth))) return NONE;
    shared->fired = 1;
    if (kind == KILL_BEFORE) die();
    return kind;
}

static void logged(int op, uint64_t inode, int64_t offset, const char *first, const char *second,
                   const void *data, size_t size) {
    if (shared->log < 0) return;
    struct header head = { op, first ? strlen(first) : 0, second ? strlen(second) : 0, size, inode, offset };
    struct iovec parts[] = { { &head, sizeof head }, { (void *)first, head.first },
                             { (void *)second, head.second }, { (void *)data, size } };
    ssize_t whole = sizeof head + head.first + head.second + size;
    if (syscall(SYS_writev, shared->log, parts, 4) != whole) abort(); /* a log with a hole proves nothing */
}

static uint64_t inode_of(int fd) { struct stat s; return fstat(fd, &s) ? 0 : s.st_ino; }
static uint64_t inode_at(const char *path) { struct stat s; return lstat(path, &s) ? 0 : s.st_ino; }

#define REAL(name) ((__typeof__(&name))({ static void *at; if (!at) at = dlsym(RTLD_NEXT, #name); at; }))
#define FINISH(kind, result) do { if ((kind) == KILL_AFTER || (kind) == TORN) die(); return result; } while (0)
#define REFUSE(kind) do { int code = errno_of(kind); if (code) { errno = code; return -1; } } while (0)

/* Writing. */

static ssize_t written(int fd, const void *data, size_t size, off_t offset, int at) {
    char path[PATH_MAX] = "";
    int ours = fd_path(fd, path) && below(path);
    if (!ours) {
        ssize_t n = at ? REAL(pwrite64)(fd, data, size, offset) : REAL(write)(fd, data, size);
        /* stderr and the log itself acknowledge nothing */
        if (n > 0 && fd != 2 && fd != shared->log) logged(OP_MARK, 0, 0, path, NULL, data, n);
        return n;
    }
    int kind = strike(OP_WRITE);
    REFUSE(kind);
    size_t some = size;
    if ((kind == TORN || kind == SHORT || kind == SHORT_ON) && size > 1) some = size / 2;
    if (!at) {
        int flags = fcntl(fd, F_GETFL);
        struct stat s;
        offset = flags & O_APPEND && !fstat(fd, &s) ? s.st_size : lseek(fd, 0, SEEK_CUR);
    }
    ssize_t n = at ? REAL(pwrite64)(fd, data, some, offset) : REAL(write)(fd, data, some);
    if (n > 0) logged(OP_WRITE, inode_of(fd), offset, path, NULL, data, n);
    FINISH(kind, n);
}

ssize_t write(int fd, const void *data, size_t size) {
    return watching() ? written(fd, data, size, 0, 0) : REAL(write)(fd, data, size);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    return watching() ? written(fd, data, size, offset, 1) : REAL(pwrite64)(fd, data, size, offset);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!watching()) return REAL(writev)(fd, parts, count);
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t n = written(fd, parts[i].iov_base, parts[i].iov_len, 0, 0);
        if (n < 0) return total ? total : n;
        total += n;
        if ((size_t)n < parts[i].iov_len) break;
    }
    return total;
}

/* Calls on an open file. */

#define ON_FD(op, call, value) do { \
    char path[PATH_MAX]; \
    if (!watching() || !fd_path(fd, path) || !below(path)) return call; \
    int kind = strike(op); \
    REFUSE(kind); \
    int result = call; \
    if (!result) logged(op, inode_of(fd), value, path, NULL, NULL, 0); \
    FINISH(kind, result); } while (0)

int fsync(int fd) { ON_FD(OP_SYNC, REAL(fsync)(fd), 0); }
int fdatasync(int fd) { ON_FD(OP_SYNC, REAL(fdatasync)(fd), 0); }
int ftruncate64(int fd, off64_t size) { ON_FD(OP_TRUNCATE, REAL(ftruncate64)(fd, size), size); }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
    char path[PATH_MAX];
    if (!watching() || !fd_path(fd, path) || !below(path)) return REAL(posix_fallocate64)(fd, offset, size);
    int kind = strike(OP_TRUNCATE);
    if (errno_of(kind)) return errno_of(kind);
    int result = REAL(posix_fallocate64)(fd, offset, size);
    struct stat s;
    if (!result && !fstat(fd, &s)) logged(OP_TRUNCATE, s.st_ino, s.st_size, path, NULL, NULL, 0);
    FINISH(kind, result);
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }

/* Opening: only what makes a file or empties one changes anything. */

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!watching() || !full_path(folder, name, path) || !below(path))
        return syscall(SYS_openat, folder, name, flags, mode);
    int exists = inode_at(path) != 0;
    int nameless = (flags & O_TMPFILE) == O_TMPFILE;
    int changes = nameless || ((flags & O_CREAT) && !exists) || ((flags & O_TRUNC) && exists);
    int kind = changes ? strike(OP_CREATE) : NONE;
    REFUSE(kind);
    int fd = syscall(SYS_openat, folder, name, flags, mode);
    if (fd >= 0 && (flags & O_TRUNC) && exists) logged(OP_TRUNCATE, inode_of(fd), 0, path, NULL, NULL, 0);
    else if (fd >= 0 && changes) logged(OP_CREATE, inode_of(fd), 0, nameless ? NULL : path, NULL, NULL, 0);
    FINISH(kind, fd);
}

#define MODE(last) mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, last); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *name, int flags, ...) { MODE(flags) return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE(flags) return opened(AT_FDCWD, name, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE(flags) return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE(flags) return opened(folder, name, flags | O_LARGEFILE, mode); }
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* Names. */

static int named(int op, int folder, const char *name, int kind_of_call, mode_t mode, int flags) {
    char path[PATH_MAX];
    int ours = watching() && full_path(folder, name, path) && below(path);
    int kind = ours ? strike(op) : NONE;
    REFUSE(kind);
    uint64_t inode = ours && op != OP_MKDIR ? inode_at(path) : 0;
    int result = kind_of_call == SYS_mkdirat ? syscall(SYS_mkdirat, folder, name, mode)
                                             : syscall(SYS_unlinkat, folder, name, flags);
    if (ours && !result) logged(op, op == OP_MKDIR ? inode_at(path) : inode, 0, path, NULL, NULL, 0);
    FINISH(kind, result);
}
int mkdir(const char *name, mode_t mode) { return named(OP_MKDIR, AT_FDCWD, name, SYS_mkdirat, mode, 0); }
int mkdirat(int folder, const char *name, mode_t mode) { return named(OP_MKDIR, folder, name, SYS_mkdirat, mode, 0); }
int unlink(const char *name) { return named(OP_UNLINK, AT_FDCWD, name, SYS_unlinkat, 0, 0); }
int rmdir(const char *name) { return named(OP_RMDIR, AT_FDCWD, name, SYS_unlinkat, 0, AT_REMOVEDIR); }
int unlinkat(int folder, const char *name, int flags) {
    return named(flags & AT_REMOVEDIR ? OP_RMDIR : OP_UNLINK, folder, name, SYS_unlinkat, 0, flags);
}

static int renamed(int from, const char *old, int to, const char *new, unsigned flags) {
    char a[PATH_MAX], b[PATH_MAX];
    int ours = watching() && full_path(from, old, a) && full_path(to, new, b) && (below(a) || below(b));
    int op = flags & RENAME_EXCHANGE ? OP_EXCHANGE : OP_RENAME;
    int kind = ours ? strike(op) : NONE;
    REFUSE(kind);
    int result = syscall(SYS_renameat2, from, old, to, new, flags);
    if (ours && !result) logged(op, inode_at(b), 0, a, b, NULL, 0);
    FINISH(kind, result);
}
int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return renamed(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return renamed(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char a[PATH_MAX], b[PATH_MAX];
    int ours = watching() && full_path(from, old, a) && full_path(to, new, b) && below(b);
    int kind = ours ? strike(OP_LINK) : NONE;
    REFUSE(kind);
    int result = syscall(SYS_linkat, from, old, to, new, flags);
    if (ours && !result) logged(OP_LINK, inode_at(b), 0, a, b, NULL, 0);
    FINISH(kind, result);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int symlinkat(const char *target, int folder, const char *name) {
    char path[PATH_MAX];
    int ours = watching() && full_path(folder, name, path) && below(path);
    int kind = ours ? strike(OP_SYMLINK) : NONE;
    REFUSE(kind);
    int result = syscall(SYS_symlinkat, target, folder, name);
    if (ours && !result) logged(OP_SYMLINK, inode_at(path), 0, path, target, NULL, 0);
    FINISH(kind, result);
}
int symlink(const char *target, const char *name) { return symlinkat(target, AT_FDCWD, name); }

/* The clock that people set; the one that only goes on is left alone. */

int clock_gettime(clockid_t id, struct timespec *at) {
    int result = syscall(SYS_clock_gettime, id, at);
    if (!result && shared && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += shared->jump;
    return result;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000;
    return result;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
