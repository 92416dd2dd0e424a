/**
 * Types and functions that the checks of the Pod Security Standards share. They describe the fields that the checks read, and format the
 * messages of the checks.
 */
import { quote } from '../../api/field-error.ts'

interface SecuritySettings {
  readonly appArmorProfile?: { readonly type?: string }
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string }
  readonly seccompProfile?: { readonly type?: string }
  readonly windowsOptions?: { readonly hostProcess?: boolean }
}

interface Handler {
  readonly httpGet?: { readonly host?: string }
  readonly tcpSocket?: { readonly host?: string }
}

export interface SecuredContainer {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly { readonly hostPort?: number }[]
  readonly livenessProbe?: Handler
  readonly readinessProbe?: Handler
  readonly startupProbe?: Handler
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler }
  readonly securityContext?: SecuritySettings & {
    readonly allowPrivilegeEscalation?: boolean
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
    readonly privileged?: boolean
    readonly procMount?: string
  }
}

/** The fields that the checks of the Pod Security Standards read in a Pod or a Pod template. */
export interface SecuredPod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers?: readonly SecuredContainer[]
    readonly initContainers?: readonly SecuredContainer[]
    readonly ephemeralContainers?: readonly SecuredContainer[]
    readonly hostIPC?: boolean
    readonly hostNetwork?: boolean
    readonly hostPID?: boolean
    readonly hostUsers?: boolean
    readonly os?: { readonly name?: string }
    readonly securityContext?: SecuritySettings & { readonly sysctls?: readonly { readonly name: string }[] }
    readonly volumes?: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[]
  }
}

/** Checks a Pod. Returns a violation if the Pod does not pass the check; otherwise undefined. */
export type Check = (pod: SecuredPod) => Violation | undefined

export interface Violation {
  readonly reason: string
  readonly detail: string
}

/**
 * A check and its implementations. Each entry of `since` contains an implementation, and the minor version of Kubernetes that introduced
 * this implementation. The oldest implementation comes first.
 */
export interface VersionedCheck {
  /** The name of the check. `baselineChecks` and `restrictedChecks` are sorted by name, and run in this order. */
  readonly id: string
  readonly since: readonly (readonly [minor: number, check: Check])[]
  /** The id of the weaker `baseline` check that this check of `restricted` replaces. */
  readonly overrides?: string
}

export function containersOf({ spec }: SecuredPod): readonly SecuredContainer[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

export function namesWhere(pod: SecuredPod, isBad: (container: SecuredContainer) => boolean): string[] {
  return containersOf(pod).flatMap((container) => (isBad(container) ? [container.name] : []))
}

export function quoted(items: Iterable<string>): string {
  return [...items].map((item) => `"${item}"`).join(', ')
}

/** Formats a name and a value as `name="value"`. */
export function assignment(name: string, value: string): string {
  return `${name}=${quote(value)}`
}

export function sortedSet(items: Iterable<string>): string[] {
  return [...new Set(items)].sort()
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many
}

/** Formats the names of containers, such as `container "a"` or `containers "a", "b"`. */
export function containerNames(names: readonly string[]): string {
  return `${plural(names.length, 'container')} ${quoted(names)}`
}

/** Returns the parts of the Pod that set a bad value, formatted for a message: `pod`, `container "a"`, or both. */
export function settersOf(pod: SecuredPod, isBad: (settings: SecuritySettings) => boolean): string[] {
  const names = namesWhere(pod, ({ securityContext }) => securityContext !== undefined && isBad(securityContext))
  const { securityContext } = pod.spec
  return [
    ...(securityContext !== undefined && isBad(securityContext) ? ['pod'] : []),
    ...(names.length === 0 ? [] : [containerNames(names)]),
  ]
}

/** Returns the security contexts of a Pod and of its containers. */
export function allSettings(pod: SecuredPod): SecuritySettings[] {
  return [pod.spec, ...containersOf(pod)].flatMap(({ securityContext }) => securityContext ?? [])
}

/** Returns true when the Pod has a separate user namespace. The root user of such a namespace is an unprivileged user of the host. */
function hasOwnUsers({ spec }: SecuredPod): boolean {
  return spec.hostUsers === false
}

/**
 * Returns a check that accepts Windows Pods, and runs `check` for all other Pods. A Windows Pod must not set the fields that `check`
 * requires.
 */
export function exceptWindows(check: Check): Check {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod))
}

/**
 * Returns a check that accepts Pods with a user namespace, and runs `check` for all other Pods (k8s.io/pod-security-admission/policy:
 * relaxPolicyForUserNamespacePod).
 */
export function exceptOwnUsers(check: Check): Check {
  return (pod) => (hasOwnUsers(pod) ? undefined : check(pod))
}
