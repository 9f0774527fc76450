// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elf-file.h"

#include <sys/stat.h>
#include <unistd.h>

/*
 * limits for the data that libelf reads into memory; a large browser with debug information does
 * not reach them
 */
#define FILE_MAX_BYTES	 (8ULL << 30)
#define SYMTAB_MAX_BYTES (64ULL << 20)
#define STRTAB_MAX_BYTES (128ULL << 20)
#define NOTES_MAX_BYTES	 (64ULL << 10)
#define SECTIONS_MAX	 65536
#define SYMTABS_MAX	 4 /* linkers write one .symtab and one .dynsym */

/*
 * Check the header before libelf reads the file. With extended numbering (e_shnum 0 with sections,
 * e_phnum PN_XNUM), fields elsewhere in the file would determine how much memory libelf allocates.
 * Linked programs do not need extended numbering, so reject it.
 */
static int header_check(const unsigned char *ident, size_t len)
{
	const Elf64_Ehdr *e64 = (const void *)ident;
	const Elf32_Ehdr *e32 = (const void *)ident;
	bool sections;
	u16 shnum, phnum;

	if (len < sizeof(*e64) || memcmp(ident, ELFMAG, SELFMAG))
		return -EBADMSG;
	if (ident[EI_CLASS] == ELFCLASS64) {
		sections = e64->e_shoff != 0;
		shnum = e64->e_shnum;
		phnum = e64->e_phnum;
	} else if (ident[EI_CLASS] == ELFCLASS32) {
		sections = e32->e_shoff != 0;
		shnum = e32->e_shnum;
		phnum = e32->e_phnum;
	} else {
		return -EBADMSG;
	}
	/* PN_XNUM and 0 are equal in both byte orders. */
	return (sections && !shnum) || phnum == PN_XNUM ? -EFBIG : 0;
}

static void segments_read(Elf *elf, struct elf_object *o)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < INT_MAX && o->segments < ELF_SEGMENTS; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		o->segment[o->segments++] = (struct elf_segment){
			.offset = ph.p_offset,
			.size = ph.p_filesz,
			.vaddr = ph.p_vaddr,
			.memory = ph.p_memsz,
			.code = ph.p_flags & PF_X,
		};
	}
}

static bool notes_find_build_id(Elf_Data *data, struct elf_object *o)
{
	size_t at = 0, name, desc;
	GElf_Nhdr nh;

	while (at < data->d_size && (at = gelf_getnote(data, at, &nh, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4) || !nh.n_descsz || nh.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(o->build_id, bytes + desc, nh.n_descsz);
		o->build_id_size = (u8)nh.n_descsz;
		return true;
	}
	return false;
}

static void build_id_read(Elf *elf, struct elf_object *o)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		Elf_Data *data;
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE || !ph.p_filesz ||
		    ph.p_filesz > NOTES_MAX_BYTES || ph.p_offset > INT64_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
					    ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (data && data->d_buf && notes_find_build_id(data, o))
			return;
	}
}

static void symbol_add(struct elf_object *o, const GElf_Sym *sym, const Elf_Data *names)
{
	unsigned char type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const char *name = names->d_buf, *version;
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
	size_t available, len;

	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= names->d_size)
		return;
	/* Data without a size would seem to extend to the next symbol. */
	if (o->objects ? type != STT_OBJECT || !sym->st_size : !function)
		return;
	name += sym->st_name;
	available = names->d_size - sym->st_name;
	len = strnlen(name, available < SYMTAB_NAME_MAX ? available : SYMTAB_NAME_MAX);
	/*
	 * In a .symtab, "name@@VERSION" names a version of a library's function: leave out the
	 * version.
	 */
	version = memchr(name, '@', len);
	if (version)
		len = (size_t)(version - name);
	if (len)
		symtab_add(&o->symbols, sym->st_value, sym->st_size, name, len,
			   bind == STB_GLOBAL ? SYMBOL_GLOBAL :
			   bind == STB_WEAK   ? SYMBOL_WEAK :
						SYMBOL_LOCAL);
}

static int symbol_section_read(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct elf_object *o)
{
	Elf_Scn *names_scn = elf_getscn(elf, sh->sh_link);
	Elf_Data *data, *names;
	GElf_Shdr names_sh;
	size_t n;

	if (!names_scn || !gelf_getshdr(names_scn, &names_sh) || names_sh.sh_type != SHT_STRTAB)
		return -EBADMSG;
	if (sh->sh_size > SYMTAB_MAX_BYTES || names_sh.sh_size > STRTAB_MAX_BYTES)
		return -EFBIG;
	data = elf_getdata(scn, NULL);
	names = elf_getdata(names_scn, NULL);
	if (!data || !data->d_buf || !names || !names->d_buf || data->d_type != ELF_T_SYM)
		return -EBADMSG;
	n = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 1; i < n && i < INT_MAX; i++) {
		GElf_Sym sym;

		if (gelf_getsym(data, (int)i, &sym))
			symbol_add(o, &sym, names);
	}
	return 0;
}

int elf_read_symbols(Elf *elf, struct elf_object *o)
{
	Elf_Scn *scn = NULL;
	int r = 0, n = 0;

	while (!r && n < SYMTABS_MAX && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		r = symbol_section_read(elf, scn, &sh, o);
		if (!r && sh.sh_type == SHT_SYMTAB)
			o->full = true;
		n++;
	}
	return r;
}

static int elf_check_type(Elf *elf)
{
	GElf_Ehdr eh;

	return elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
			       (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ?
		       -EBADMSG :
		       0;
}

int elf_open(int fd, Elf **ret_elf)
{
	union {
		unsigned char bytes[sizeof(Elf64_Ehdr)];
		Elf64_Ehdr align;
	} head;
	ssize_t n = pread(fd, &head, sizeof(head), 0);
	struct stat st;
	Elf *elf;
	int r;

	if (n < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = header_check(head.bytes, (size_t)n);
	if (r < 0)
		return r;
	if ((u64)st.st_size > FILE_MAX_BYTES)
		return -EFBIG;
	elf_version(EV_CURRENT);
	/*
	 * Mapping is safe in this process: if the file is truncated, SIGBUS kills only the helper.
	 */
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	r = elf ? elf_check_type(elf) : -EBADMSG;
	if (r < 0) {
		elf_end(elf);
		return r;
	}
	*ret_elf = elf;
	return 0;
}

int elf_open_memory(void *bytes, size_t size, Elf **ret_elf)
{
	Elf *elf;
	int r = header_check(bytes, size);

	if (r < 0)
		return r;
	elf_version(EV_CURRENT);
	elf = elf_memory(bytes, size);
	r = elf ? elf_check_type(elf) : -EBADMSG;
	if (r < 0) {
		elf_end(elf);
		return r;
	}
	*ret_elf = elf;
	return 0;
}

void elf_read_segments_and_build_id(Elf *elf, struct elf_object *o)
{
	segments_read(elf, o);
	build_id_read(elf, o);
}

Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	for (u32 n = 0; n < SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); n++) {
		const char *found;

		if (!gelf_getshdr(scn, &sh))
			continue;
		found = elf_strptr(elf, names, sh.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*ret_header = sh;
		return scn;
	}
	return NULL;
}

const u8 *elf_get_section_bytes(Elf *elf, const char *name, size_t *ret_size)
{
	GElf_Shdr sh;
	size_t size;
	const char *raw;

	if (!elf_find_section(elf, name, &sh) || sh.sh_type == SHT_NOBITS ||
	    sh.sh_flags & SHF_COMPRESSED)
		return NULL;
	raw = elf_rawfile(elf, &size);
	if (!raw || sh.sh_offset >= size || !sh.sh_size || sh.sh_size > size - sh.sh_offset)
		return NULL;
	*ret_size = sh.sh_size;
	return (const u8 *)raw + sh.sh_offset;
}
