/* Loads a compiler and a linker by the paths that it is given, and prints what they hand out as machine code. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *find(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : 0;
    if (!found) {
        printf("%s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}
#define FIND(type, name) __typeof__(type) name = (__typeof__(type))find(library, #name)

typedef int (*take)(size_t, size_t *);
typedef int (*get)(size_t, char *);

static void compile(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    FIND(int (*)(int *, int *), nvrtcVersion);
    FIND(int (*)(size_t *, const char *), nvrtcCreateProgram);
    FIND(int (*)(size_t, int, const char **), nvrtcCompileProgram);
    FIND(take, nvrtcGetCUBINSize);
    FIND(get, nvrtcGetCUBIN);
    int major, minor;
    nvrtcVersion(&major, &minor);
    printf("nvrtc %d.%d\n", major, minor);
    const char *options[][2] = {{"-arch=sm_80", "-G"}, {"-arch=compute_80", "-G"}};
    for (int n = 0; n < 2; n++) {
        size_t program, size = 0;
        char text[512] = "";
        nvrtcCreateProgram(&program, "");
        nvrtcCompileProgram(program, 2, options[n]);
        nvrtcGetCUBINSize(program, &size);
        if (size) nvrtcGetCUBIN(program, text);
        printf("%s: %zu bytes of a cubin, %s\n", options[n][0], size, text[0] == 127 ? "machine code" : text);
    }
}

static void link_texts(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    FIND(int (*)(size_t *, unsigned, const char **), nvJitLinkCreate);
    FIND(int (*)(size_t, int, const void *, size_t, const char *), nvJitLinkAddData);
    FIND(int (*)(size_t), nvJitLinkComplete);
    FIND(take, nvJitLinkGetLinkedCubinSize);
    FIND(get, nvJitLinkGetLinkedCubin);
    FIND(take, nvJitLinkGetErrorLogSize);
    FIND(get, nvJitLinkGetErrorLog);
    find(library, strstr(path, "none") ? "nvJitLinkCreate" : "nvJitLinkDestroy");
    const char *caller = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f();\n"
                         ".visible .entry k() { call f; ret; }\n";
    const char *twice = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n";
    const char *option = "-arch=sm_80", *texts[] = {caller, twice};
    for (int n = 0; n < 2; n++) {
        size_t link, size = 0;
        char text[1024] = "";
        int found = nvJitLinkCreate(&link, 1, &option);
        found |= nvJitLinkAddData(link, 3, "LTO-IR", 6, "a");
        found |= nvJitLinkAddData(link, 2, texts[n], strlen(texts[n]), "b.ptx");
        printf("added %d, ", found);
        if ((found = nvJitLinkComplete(link))) {
            nvJitLinkGetErrorLogSize(link, &size);
            nvJitLinkGetErrorLog(link, text);
            printf("error %d, %zu bytes: %s", found, size, text);
        } else {
            nvJitLinkGetLinkedCubinSize(link, &size);
            nvJitLinkGetLinkedCubin(link, text);
            printf("linked %s%s\n", strstr(text, ".entry k") ? "the text " : "", strstr(text, ".func f() { ret") ? "and LTO-IR" : "");
        }
    }
}

int main(int count, char **paths) {
    for (int n = 1; n < count; n++) strstr(paths[n], "nvrtc") ? compile(paths[n]) : link_texts(paths[n]);
    return 0;
}
