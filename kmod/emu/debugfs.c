// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inject faults on behalf of userspace: each write to the debugfs file speprof_emu/cpuN sets one
 * rule of core/model/inject.h. A read returns the rules in use.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "emu.h"

/* Maximum length of a rule that is written to the debugfs file, with its NUL. */
#define RULE_MAX 64

static struct dentry *root;

/*
 * Arguments and result of a call on a CPU. The emulated SPU of a CPU and its rules may only be used
 * there.
 */
struct inject_call {
	struct speprof_emu_cpu *cpu;
	const struct spe_inject_rule *rule; /* rule to set; NULL: only read the rules */
	struct spe_injector inject;
	int ret;
};

static void inject_apply_on_cpu(void *arg)
{
	struct inject_call *call = arg;

	if (call->rule)
		call->ret = spe_inject_apply_rule(&call->cpu->inject, &call->cpu->spu, call->rule);
	call->inject = call->cpu->inject;
}

static int inject_call_on_cpu(struct speprof_emu_cpu *cpu, const struct spe_inject_rule *rule,
			      struct inject_call *ret_call)
{
	int ret;

	*ret_call = (struct inject_call){ .cpu = cpu, .rule = rule };
	cpus_read_lock();
	ret = smp_call_function_single((int)cpu->number, inject_apply_on_cpu, ret_call, true);
	cpus_read_unlock();
	return ret ? ret : ret_call->ret;
}

static ssize_t rule_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct speprof_emu_cpu *cpu = ((struct seq_file *)file->private_data)->private;
	struct spe_inject_error error;
	struct spe_inject_rule rule;
	struct inject_call result;
	char text[RULE_MAX];
	int ret;

	if (*pos || len > sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	ret = spe_inject_parse_rule(text, len, &rule, &error);
	if (ret) {
		pr_warn_ratelimited("cpu%u: column %zu, \"%.*s\": must be %s\n", cpu->number,
				    error.column, (int)error.length, text + error.column - 1,
				    error.want);
		return ret;
	}
	ret = inject_call_on_cpu(cpu, &rule, &result);
	return ret ? ret : (ssize_t)len;
}

static int rules_show(struct seq_file *seq, void *unused)
{
	struct inject_call result;
	int ret = inject_call_on_cpu(seq->private, NULL, &result);

	if (ret)
		return ret;
	for (u32 i = 0; i < result.inject.count; i++) {
		const struct spe_inject_rule *rule = &result.inject.rules[i];
		const char *name = spe_inject_fault_name(rule->fault);

		if (name)
			seq_printf(seq, "%s", name);
		else
			seq_printf(seq, "%#llx:%#llx", SPE_FIELD_GET(SPE_PMBSR_EC, rule->fault),
				   SPE_FIELD_GET(SPE_PMBSR_MSS, rule->fault));
		seq_printf(seq, " %u.%04u%%\n", rule->ppm / 10000, rule->ppm % 10000);
	}
	seq_printf(seq, "# %llu so far\n", result.inject.injected);
	return 0;
}

static int rules_open(struct inode *inode, struct file *file)
{
	return single_open(file, rules_show, inode->i_private);
}

static const struct file_operations rules_fops = {
	.owner = THIS_MODULE,
	.open = rules_open,
	.read = seq_read,
	.write = rule_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void speprof_emu_debugfs_init(struct speprof_emu_cpu __percpu *cpus)
{
	unsigned int cpu;
	char name[16];

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file(name, 0600, root, per_cpu_ptr(cpus, cpu), &rules_fops);
	}
}

void speprof_emu_debugfs_deinit(void)
{
	debugfs_remove(root);
}
