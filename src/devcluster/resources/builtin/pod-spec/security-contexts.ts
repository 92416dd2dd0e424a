/** Validation of the security contexts of containers and Pods (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, invalid, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { goStruct, invalidStruct, objects, validateOptionalEnum } from '../field-checks.ts'
import { validateAppArmorProfile, validateId, validateSeccompProfile, validateWindowsOptions } from './security-profiles.ts'

/**
 * The fields of a security context, in the order of kube-apiserver's internal type. Errors quote the whole security context in this order.
 */
const fields = [
  'capabilities',
  'privileged',
  'seLinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
]

/** Validates the security context of a container (k8s.io/kubernetes/pkg/apis/core/validation: ValidateSecurityContext). */
export function validateSecurityContext(context: JsonValue | undefined, path: string, usesHostUsers: boolean): FieldError[] {
  if (!isObject(context)) return []
  return [
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
    ...validateOptionalEnum(context, 'procMount', path, ['Default', 'Unmasked']),
    ...(usesHostUsers && context.procMount === 'Unmasked'
      ? [invalid(`${path}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...validateEscalation(context, path),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
  ]
}

function validateEscalation(context: JsonObject, path: string): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return []
  const refuse = (detail: string): FieldError => invalidStruct(path, printedContext(context), fields, detail)
  return [
    ...(context.privileged === true ? [refuse('cannot set `allowPrivilegeEscalation` to false and `privileged` to true')] : []),
    ...listAt(context, 'capabilities', 'add')
      .filter((capability) => capability === 'CAP_SYS_ADMIN')
      .map(() => refuse('cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN')),
  ]
}

/** Converts the nested structs of a security context to the form that kube-apiserver's errors show. */
function printedContext(context: JsonObject): JsonObject {
  const printed = { ...context }
  if (isObject(context.capabilities)) printed.capabilities = goStruct(context.capabilities, ['add', 'drop'])
  for (const field of ['seccompProfile', 'appArmorProfile']) {
    const profile = context[field]
    if (isObject(profile)) printed[field] = goStruct({ ...profile, type: textAt(profile, 'type') }, ['type', 'localhostProfile'])
  }
  return printed
}

/** Validates the security context of a Pod (k8s.io/kubernetes/pkg/apis/core/validation: validatePodSpecSecurityContext). */
export function validatePodSecurityContext(spec: JsonObject, path: string): FieldError[] {
  const { securityContext: context } = spec
  if (!isObject(context)) return []
  return [
    ...['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((field) => validateId(context[field], `${path}.${field}`)),
    ...listAt(context, 'supplementalGroups').flatMap((group, index) => validateId(group, `${path}.supplementalGroups[${index}]`)),
    ...(spec.shareProcessNamespace === true && spec.hostPID === true
      ? [invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : []),
    ...validateSysctls(listAt(context, 'sysctls'), spec, `${path}.sysctls`),
    ...validateOptionalEnum(context, 'fsGroupChangePolicy', path, ['Always', 'OnRootMismatch']),
    ...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
    ...validateOptionalEnum(context, 'supplementalGroupsPolicy', path, ['Merge', 'Strict']),
    // The policy MountOption needs the feature gate SELinuxMount, which is disabled.
    ...validateOptionalEnum(context, 'seLinuxChangePolicy', path, ['Recursive']),
  ]
}

const maxSysctlLength = 253
const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlPattern = `^(${segment}[\\./])*${segment}$`
const sysctlName = new RegExp(sysctlPattern)

/** Validates `sysctls` (k8s.io/kubernetes/pkg/apis/core/validation: validateSysctls). */
function validateSysctls(sysctls: readonly JsonValue[], spec: JsonObject, path: string): FieldError[] {
  const taken = new Set<string>()
  return objects(sysctls).flatMap(([sysctl, index]) => {
    const here = `${path}[${index}].name`
    const name = textAt(sysctl, 'name')
    const errors: FieldError[] = []
    if (name === '') errors.push(required(here))
    else if (name.length > maxSysctlLength || !sysctlName.test(name))
      errors.push(invalid(here, name, `must have at most ${maxSysctlLength} characters and match regex ${sysctlPattern}`))
    else if (taken.has(name)) errors.push(duplicate(here, name))
    taken.add(name)
    const shared = sharedNamespace(name, spec)
    return shared === undefined ? errors : [...errors, invalid(here, name, `may not be specified when '${shared}' is true`)]
  })
}

const isIpcSysctl = /^(?:kernel\.(?:sem|shm(?:all|max|mni|_rmid_forced)?|msg(?:max|mnb|mni)?)$|fs\.mqueue\.)/

/**
 * Returns `hostNetwork` or `hostIPC` if the sysctl belongs to a namespace that the Pod shares with the host. Some sysctls belong to the
 * network namespace, and others belong to the IPC namespace (ValidateHostSysctl).
 */
function sharedNamespace(sysctl: string, spec: JsonObject): string | undefined {
  const separator = /[./]/.exec(sysctl)?.[0]
  const name = separator === '/' ? sysctl.replace(/[./]/g, (one) => (one === '/' ? '.' : '/')) : sysctl
  if (spec.hostNetwork === true && /^net\./.test(name)) return 'hostNetwork'
  return spec.hostIPC === true && isIpcSysctl.test(name) ? 'hostIPC' : undefined
}
