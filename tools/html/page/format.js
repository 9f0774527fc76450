// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers as text, in the style of "speprof report".

/** Return @n with commas between thousands, such as 1,234,567. */
export function formatCount(n) {
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Return @n in at most four characters and a unit, such as 12.3 M. */
export function formatShort(n) {
	const units = ["", " k", " M", " G", " T", " P"];
	let i = 0;
	while (n >= 999.5 && i < units.length - 1) {
		n /= 1000;
		i++;
	}
	return (i && n < 99.95 ? n.toFixed(1) : String(Math.round(n))) + units[i];
}

/** Return @part of @whole in percent, such as 12.3 %; "-" if @whole is 0. */
export function formatPercent(part, whole) {
	return whole ? `${(100 * part / whole).toFixed(1)} %` : "-";
}

/** Return a number of cycles with one digit behind the point if it is small; "-" for null. */
export function formatCycles(n) {
	if (n === null)
		return "-";
	return n < 100 ? n.toFixed(1) : formatCount(n);
}

/** Return a number of bytes with a binary unit, such as 21 MiB. */
export function formatBytes(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	while (n >= 1023.5 && i < units.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i && n < 9.95 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

/** Return a time in seconds, from nanoseconds. */
export function formatSeconds(ns) {
	const s = ns / 1e9;
	return `${s < 10 ? s.toFixed(2) : s < 100 ? s.toFixed(1) : formatCount(s)} s`;
}
