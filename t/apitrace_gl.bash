# A program of OpenGL and a library for it without any driver: load apitrace_gl

# gl_library: libGL.so.1, whose functions give fixed values
gl_library() {
	cat >stub.c <<-'END'
		#include <string.h>

		typedef void (*function)(void);

		static long visual[10];

		void *glXChooseVisual(void *dpy, int screen, int *list) { return visual; }
		void *glXCreateContext(void *dpy, void *vis, void *share, int direct) { return (void *)0x1234; }
		int glXMakeCurrent(void *dpy, unsigned long drawable, void *ctx) { return 1; }
		void glXSwapBuffers(void *dpy, unsigned long drawable) {}
		void *glXGetCurrentContext(void) { return (void *)0x1234; }
		const char *glXQueryExtensionsString(void *dpy, int screen) { return "GLX_ARB_get_proc_address"; }
		void glXDestroyContext(void *dpy, void *ctx) {}

		const char *glGetString(unsigned name)
		{
			return name == 0x1f02 ? "2.1 stub" : name == 0x1f03 ? "GL_EXT_one" : "a \"b\"\n\\c";
		}

		void glGetIntegerv(unsigned name, int *p)
		{
			static const int viewport[] = {0, 1, -640, 480};

			if (name == 0x0ba2)
				memcpy(p, viewport, sizeof viewport);
			else
				*p = name == 0x0d33 ? -7 : 0;
		}

		void glGetFloatv(unsigned name, float *p)
		{
			for (int i = 0; i < 16; i++)
				p[i] = i / 3.0f;
		}

		unsigned glGetError(void) { return 0; }
		unsigned glCreateShader(unsigned type) { return 3; }
		void glShaderSource(unsigned shader, int n, const char *const *text, const int *sizes) {}
		void glGetShaderiv(unsigned shader, unsigned name, int *p) { *p = 1; }
		void glGenBuffers(int n, unsigned *b) { while (n--) b[n] = n + 1; }
		void glGenTextures(int n, unsigned *b) { while (n--) b[n] = n + 100; }
		void glBindBuffer(unsigned target, unsigned b) {}
		void glBufferData(unsigned target, long n, const void *data, unsigned usage) {}
		void glBufferSubData(unsigned target, long at, long n, const void *data) {}
		void glClear(unsigned mask) {}
		void glClearColor(float r, float g, float b, float a) {}
		void glClearDepth(double d) {}
		void glEnable(unsigned cap) {}
		unsigned char glIsEnabled(unsigned cap) { return cap == 0x0be2; }
		void glBegin(unsigned mode) {}
		void glVertex3f(float x, float y, float z) {}
		void glVertex2d(double x, double y) {}
		void glEnd(void) {}
		void glLoadMatrixf(const float *m) {}
		int glGetUniformLocation(unsigned program, const char *name) { return -1; }
		void glDepthMask(unsigned char flag) {}
		void glColor3ub(unsigned char r, unsigned char g, unsigned char b) {}
		void glTexImage2D(unsigned target, int level, int internal, int w, int h, int border, unsigned format,
				  unsigned type, const void *pixels) {}
		void glPushAttrib(unsigned mask) {}
		void glFinish(void) {}

		#define ENTRY(name) {#name, (function)name}

		static const struct {
			const char *name;
			function f;
		} table[] = {
			ENTRY(glCreateShader), ENTRY(glShaderSource), ENTRY(glGetShaderiv), ENTRY(glGenBuffers),
			ENTRY(glBindBuffer), ENTRY(glBufferData), ENTRY(glBufferSubData), ENTRY(glGetUniformLocation),
		};

		function glXGetProcAddressARB(const char *name)
		{
			for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
				if (!strcmp(table[i].name, name))
					return table[i].f;
			return 0;
		}
	END
	# its own functions, not those of the tracer
	gcc -w -shared -fPIC -Wl,-Bsymbolic -Wl,-soname,libGL.so.1 -o libGL.so.1 stub.c
}

# gl_program: ./drawing, with values of most kinds in and out, in two threads
gl_program() {
	sed -n 's/^\(\(void\|int\|unsigned\|unsigned char\|const char\) \**gl.*)\) *{.*/\1;/p
		s/^\(\(void\|const char\) \**gl[A-Z].*)\)$/\1;/p' stub.c >gl.h
	cat >drawing.c <<-'END'
		#include <math.h>
		#include <pthread.h>
		#include <stddef.h>
		#include "gl.h"

		static void *vertices(void *arg)
		{
			for (int i = 0; i < 20; i++) {
				glBegin(4);
				glVertex3f(i / 3.0f, -i, 1e-7f * i);
				glVertex2d(i / 7.0, 1e300);
				glEnd();
			}
			return arg;
		}

		static void shaders(void)
		{
			static const char *const text[] = {"void main() {\n", "\tx = 1.0; // \"caf\xc3\xa9\"\n", "}\n"};
			const int sizes[] = {5, -1, 1};
			int compiled;

			glCreateShader(0x8b31);
			glShaderSource(3, 3, text, NULL);
			glShaderSource(3, 2, text, sizes);
			glGetShaderiv(3, 0x8b81, &compiled);
			glGetUniformLocation(1, "name");
		}

		static void data(void)
		{
			unsigned names[3];
			char bytes[100];

			for (int i = 0; i < 100; i++)
				bytes[i] = i * 7;
			glGenBuffers(3, names);
			glBindBuffer(0x8892, 1);
			glBufferData(0x8892, 100, bytes, 0x88e4);
			glBufferData(0x8892, 50, NULL, 0x88e4);
			glBufferSubData(0x8892, 3, 7, bytes);
			glGenTextures(1, names);
			glTexImage2D(0x0de1, 0, 0x1908, 4, 4, 0, 0x1908, 0x1401, bytes);
		}

		static void state(void)
		{
			float matrix[16];
			int viewport[4], one;

			glGetString(0x1f00);
			glGetIntegerv(0x0ba2, viewport);
			glGetIntegerv(0x0d33, &one);
			glGetFloatv(0x0ba6, matrix);
			glLoadMatrixf(matrix);
			glClear(0x4100);
			glClear(0);
			glClear(0x4001);
			glClearColor(0.1f, -0.0f, INFINITY, NAN);
			glClearDepth(1 / 3.0);
			glPushAttrib(0x000fffff);
			glEnable(0x0be2);
			glEnable(0x12345);
			glIsEnabled(0x0be2);
			glIsEnabled(0x0b44);
			glDepthMask(0);
			glColor3ub(1, 128, 255);
		}

		int main(void)
		{
			int attributes[] = {4, 8, 9, 0};
			void *dpy = (void *)0x10, *ctx;
			pthread_t thread;

			ctx = glXCreateContext(dpy, glXChooseVisual(dpy, 0, attributes), NULL, 1);
			glXMakeCurrent(dpy, 0x20, ctx);
			state();
			shaders();
			data();
			pthread_create(&thread, NULL, vertices, NULL);
			vertices(NULL);
			pthread_join(thread, NULL);
			for (int i = 0; i < 3; i++) {
				glClear(0x4000);
				glXSwapBuffers(dpy, 0x20);
				glGetError();
			}
			glFinish();
			glXDestroyContext(dpy, ctx);
			return 0;
		}
	END
	gcc -w -o drawing drawing.c ./libGL.so.1 -lpthread
}
