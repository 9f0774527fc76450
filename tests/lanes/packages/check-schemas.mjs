// SPDX-License-Identifier: LGPL-2.1-or-later
// Check Kubernetes objects against the schemas of the npm packages kubernetes-models and
// @kubernetes-models/prometheus-operator. Fields that the schemas do not have are errors, too.
//
// usage: node check-schemas.mjs NODE_MODULES <OBJECTS, as a list in JSON; prints one complaint a line
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const SCHEMAS = {
	"v1/Namespace": "kubernetes-models/_schemas/IoK8sApiCoreV1Namespace.js",
	"apps/v1/DaemonSet": "kubernetes-models/_schemas/IoK8sApiAppsV1DaemonSet.js",
	"monitoring.coreos.com/v1/PodMonitor":
		"@kubernetes-models/prometheus-operator/_schemas/ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoringV1PodMonitor.js",
};

// The schemas are compiled to functions that read each field they know: an unread field is unknown.
function observe(value, path, unread) {
	if (value === null || typeof value !== "object")
		return value;
	for (const key of Object.keys(value))
		unread.add(`${path}/${key}`);
	return new Proxy(value, {
		get(target, key) {
			if (typeof key === "string")
				unread.delete(`${path}/${key}`);
			return Object.hasOwn(target, key) ? observe_once(target, key, path, unread) : Reflect.get(target, key);
		},
	});
}

const observed = new WeakMap();
function observe_once(target, key, path, unread) {
	const value = target[key];
	if (value === null || typeof value !== "object")
		return value;
	if (!observed.has(value))
		observed.set(value, observe(value, `${path}/${key}`, unread));
	return observed.get(value);
}

for (const object of JSON.parse(readFileSync(0, "utf8"))) {
	const kind = `${object.apiVersion}/${object.kind}`, unread = new Set();
	if (!SCHEMAS[kind]) {
		console.log(`no schema of ${kind} is known here`);
		continue;
	}
	const { validate } = await import(pathToFileURL(`${process.argv[2]}/${SCHEMAS[kind]}`));
	if (!validate(observe(object, "", unread)))
		for (const error of validate.errors)
			console.log(`${kind}: ${error.instancePath}: ${error.keyword} ${JSON.stringify(error.params)}`);
	for (const path of unread)
		console.log(`${kind}: ${path}: the schema has no such field`);
}
