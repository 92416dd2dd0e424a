/** The order of API groups, and their priorities as kube-apiserver publishes them in APIServices. */

/** The priorities of the built-in groups (k8s.io/kubernetes/cmd/kube-apiserver/app: apiVersionPriorities). */
const groups: Readonly<Record<string, number>> = {
  '': 18000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'discovery.k8s.io': 16200,
}

/** The priorities of the versions whose priority is not `usualVersion`, keyed by `VERSION.GROUP`. */
const versions: Readonly<Record<string, number>> = { 'v1.': 1, 'v2.autoscaling': 30 }
const usualVersion = 15

/** The group of the kind APIService. kube-apiserver lists this group first. No APIService exists for this group. */
export const registrationGroup = 'apiregistration.k8s.io'

export interface Priorities {
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
}

/** Returns the priorities of a built-in group and version. */
export function builtinPriorities(group: string, version: string): Priorities {
  return { groupPriorityMinimum: groups[group] ?? 2000, versionPriority: versions[`${version}.${group}`] ?? usualVersion }
}

/**
 * The priorities of the groups of CRDs (k8s.io/kube-aggregator/pkg/controllers/autoregister and
 * k8s.io/kubernetes/pkg/controlplane/controller/crdregistration).
 */
export const customPriorities: Priorities = { groupPriorityMinimum: 1000, versionPriority: 100 }

/**
 * Returns the rank of a group. Groups with a lower rank are listed first. If several groups have a type with the same name, clients use the
 * type of the group that is listed first.
 */
export function rankOf(group: string): number {
  if (group === registrationGroup) return Number.NEGATIVE_INFINITY
  return -(Object.hasOwn(groups, group) ? groups[group]! : customPriorities.groupPriorityMinimum)
}
