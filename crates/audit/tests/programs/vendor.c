/* An NVRTC and an nvJitLink as far as the stand-ins call them. Compiled "PTX" says what it was compiled for. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char options[256], ptx[512];

int nvrtcVersion(int *major, int *minor) { *major = 12, *minor = 9; return 0; }
int nvrtcCreateProgram(size_t *program, const char *text) { *program = 7; (void)text; return 0; }
int nvrtcDestroyProgram(size_t *program) { *program = 0; return 0; }
int nvrtcCompileProgram(size_t program, int count, const char *const *given) {
    (void)program;
    options[0] = 0;
    for (int n = 0; n < count; n++) strcat(strcat(options, given[n]), " ");
    snprintf(ptx, sizeof ptx, ".version 8.0 // %s", options);
    return 0;
}
int nvrtcGetPTXSize(size_t program, size_t *size) { (void)program; *size = strlen(ptx) + 1; return 0; }
int nvrtcGetPTX(size_t program, char *to) { (void)program; strcpy(to, ptx); return 0; }
int nvrtcGetCUBINSize(size_t program, size_t *size) { (void)program; *size = strstr(options, "sm_") ? 5 : 0; return 0; }
int nvrtcGetCUBIN(size_t program, char *to) { (void)program; strcpy(to, "\x7f" "ELF"); return 0; }

static int to_ptx, inputs;

int nvJitLinkCreate(size_t *link, unsigned count, const char **given) {
    to_ptx = inputs = 0;
    for (unsigned n = 0; n < count; n++) to_ptx |= !strcmp(given[n], "-ptx");
    *link = 9;
    return 0;
}
int nvJitLinkDestroy(size_t *link) { *link = 0; return 0; }
int nvJitLinkAddData(size_t link, int kind, const void *data, size_t size, const char *name) {
    (void)link, (void)data, (void)size, (void)name;
    inputs++;
    return kind == 2;
}
int nvJitLinkAddFile(size_t link, int kind, const char *path) { (void)path; return nvJitLinkAddData(link, kind, "", 0, ""); }
int nvJitLinkComplete(size_t link) { (void)link; return inputs ? 0 : 6; }
int nvJitLinkGetLinkedPtxSize(size_t link, size_t *size) { (void)link; *size = 256; return !to_ptx; }
int nvJitLinkGetLinkedPtx(size_t link, char *to) {
    (void)link;
    strcpy(to, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n");
    return 0;
}
int nvJitLinkGetLinkedCubinSize(size_t link, size_t *size) { (void)link; *size = 5; return 0; }
int nvJitLinkGetLinkedCubin(size_t link, void *to) { (void)link; strcpy(to, "\x7f" "ELF"); return 0; }
int nvJitLinkGetErrorLogSize(size_t link, size_t *size) { (void)link; *size = 1; return 0; }
int nvJitLinkGetErrorLog(size_t link, char *to) { (void)link; *to = 0; return 0; }
