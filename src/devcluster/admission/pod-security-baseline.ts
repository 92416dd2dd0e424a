/**
 * The checks of the Pod Security Standard `baseline`, which prevents known privilege escalations (k8s.io/pod-security-admission/policy).
 */
import type { Check, SecuredPod, VersionedCheck } from './pod-security-check.ts'
import {
  allSettings,
  assignment,
  containerNames,
  containersOf,
  exceptOwnUsers,
  namesWhere,
  plural,
  quoted,
  settersOf,
  sortedSet,
} from './pod-security-check.ts'

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/'
const appArmorTypes = ['RuntimeDefault', 'Localhost']

const appArmorProfile: Check = (pod) => {
  const isBad = (type: string | undefined): boolean => type === undefined || !appArmorTypes.includes(type)
  const setters = settersOf(pod, ({ appArmorProfile: profile }) => profile !== undefined && isBad(profile.type))
  const types = allSettings(pod).flatMap(({ appArmorProfile: profile }) =>
    profile !== undefined && isBad(profile.type) ? [profile.type ?? ''] : [],
  )
  const annotations = Object.entries(pod.metadata.annotations ?? {}).flatMap(([name, value]) =>
    name.startsWith(appArmorAnnotation) && !['', 'runtime/default'].includes(value) && !value.startsWith('localhost/')
      ? [assignment(name, value)]
      : [],
  )
  if (annotations.length > 0) setters.push(plural(annotations.length, 'annotation'))
  const values = [...sortedSet(types), ...annotations.sort()]
  if (setters.length === 0) return undefined
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const defaultCapabilities = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP'],
  ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
])

const capabilities: Check = (pod) => {
  const added = (container: { securityContext?: { capabilities?: { add?: readonly string[] } } }): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name))
  const names = namesWhere(pod, (container) => added(container).length > 0)
  if (names.length === 0) return undefined
  const all = quoted(sortedSet(containersOf(pod).flatMap(added)))
  return {
    reason: 'non-default capabilities',
    detail: `${containerNames(names)} must not include ${all} in securityContext.capabilities.add`,
  }
}

const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true)
  return shared.length === 0 ? undefined : { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).flatMap(({ name, hostPath }) => (hostPath === undefined ? [] : [name]))
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: `${plural(names.length, 'volume')} ${quoted(names)}` }
}

const hostPorts: Check = (pod) => {
  const portsOf = ({ ports = [] }: { ports?: readonly { hostPort?: number }[] }): string[] =>
    ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]))
  const names = namesWhere(pod, (container) => portsOf(container).length > 0)
  if (names.length === 0) return undefined
  const ports = sortedSet(containersOf(pod).flatMap(portsOf))
  return {
    reason: 'hostPort',
    detail: `${containerNames(names)} ${plural(names.length, 'uses', 'use')} ${plural(ports.length, 'hostPort')} ${ports.join(', ')}`,
  }
}

const hostProbes: Check = (pod) => {
  const hosts = new Map(
    containersOf(pod).map(({ name, livenessProbe, readinessProbe, startupProbe, lifecycle }) => [
      name,
      [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
        [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || []),
      ),
    ]),
  )
  const names = sortedSet([...hosts].flatMap(([name, own]) => (own.length === 0 ? [] : [name])))
  if (names.length === 0) return undefined
  const all = sortedSet([...hosts.values()].flat())
  const what = 'probe or lifecycle host'
  return {
    reason: what,
    detail: `${containerNames(names)} ${plural(names.length, 'uses', 'use')} ${plural(all.length, what)} ${quoted(all)}`,
  }
}

const privileged: Check = (pod) => {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true)
  if (names.length === 0) return undefined
  return { reason: 'privileged', detail: `${containerNames(names)} must not set securityContext.privileged=true` }
}

/**
 * Checks `procMount`. The level `restricted` uses this check for all Pods. The level `baseline` uses this check for all Pods up to version
 * 1.34, and for Pods without a user namespace from version 1.35 on.
 */
export const procMount: Check = (pod) => {
  const mount = ({ securityContext }: { securityContext?: { procMount?: string } }): string => securityContext?.procMount ?? 'Default'
  const names = namesWhere(pod, (container) => mount(container) !== 'Default')
  if (names.length === 0) return undefined
  const types = sortedSet(containersOf(pod).map(mount)).filter((type) => type !== 'Default')
  return { reason: 'procMount', detail: `${containerNames(names)} must not set securityContext.procMount to ${quoted(types)}` }
}

const seLinuxOptions =
  (...allowed: string[]): Check =>
  (pod) => {
    const isBadType = (type = ''): boolean => type !== '' && !allowed.includes(type)
    const setters = settersOf(
      pod,
      ({ seLinuxOptions: options }) => options !== undefined && (isBadType(options.type) || !!options.user || !!options.role),
    )
    if (setters.length === 0) return undefined
    const all = allSettings(pod).flatMap(({ seLinuxOptions: options }) => options ?? [])
    const types = sortedSet(all.flatMap(({ type }) => (isBadType(type) ? [type!] : [])))
    const data = [
      ...(types.length === 0 ? [] : [`${plural(types.length, 'type')} ${quoted(types)}`]),
      ...(all.some(({ user }) => !!user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => !!role) ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    }
  }

const seccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/'

const seccompAnnotations: Check = (pod) => {
  const names = [seccompAnnotation, ...containersOf(pod).map(({ name }) => seccompContainerAnnotation + name)]
  const bad = names.flatMap((name) => {
    const value = pod.metadata.annotations?.[name]
    const isFine = value === undefined || ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/')
    return isFine ? [] : [assignment(name, value)]
  })
  const all = sortedSet(bad)
  return all.length === 0
    ? undefined
    : { reason: 'seccompProfile', detail: `forbidden ${plural(all.length, 'annotation')} ${all.join(', ')}` }
}

export function isSeccompType(type: string | undefined): boolean {
  return type === 'Localhost' || type === 'RuntimeDefault'
}

/**
 * Checks the seccomp profiles that a Pod sets. The check of the level `restricted` first runs this check, and then requires that a profile
 * is set.
 */
export const seccompProfile: Check = (pod: SecuredPod) => {
  const setters = settersOf(pod, ({ seccompProfile: profile }) => profile !== undefined && !isSeccompType(profile.type))
  if (setters.length === 0) return undefined
  const types = allSettings(pod).flatMap(({ seccompProfile: profile }) =>
    profile === undefined || isSeccompType(profile.type) ? [] : [profile.type ?? ''],
  )
  return {
    reason: 'seccompProfile',
    detail: `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(types))}`,
  }
}

const safeSysctls = [
  ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range'],
  'net.ipv4.ip_unprivileged_port_start',
]
const since27 = [...safeSysctls, 'net.ipv4.ip_local_reserved_ports']
const since29 = [...since27, ...['time', 'intvl', 'probes'].map((part) => `net.ipv4.tcp_keepalive_${part}`), 'net.ipv4.tcp_fin_timeout']
const since32 = [...since29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

const sysctls =
  (allowed: readonly string[]): Check =>
  ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).flatMap(({ name }) => (allowed.includes(name) ? [] : [name]))
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') }
  }

const windowsHostProcess: Check = (pod) => {
  const setters = settersOf(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  if (setters.length === 0) return undefined
  return { reason: 'hostProcess', detail: `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true` }
}

const containerTypes = ['container_t', 'container_init_t', 'container_kvm_t']

export const baselineChecks: readonly VersionedCheck[] = [
  { id: 'appArmorProfile', since: [[0, appArmorProfile]] },
  { id: 'capabilities_baseline', since: [[0, capabilities]] },
  { id: 'hostNamespaces', since: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', since: [[0, hostPathVolumes]] },
  { id: 'hostPorts', since: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', since: [[34, hostProbes]] },
  { id: 'privileged', since: [[0, privileged]] },
  {
    id: 'procMount',
    since: [
      [0, procMount],
      [35, exceptOwnUsers(procMount)],
    ],
  },
  {
    id: 'seLinuxOptions',
    since: [
      [0, seLinuxOptions(...containerTypes)],
      [31, seLinuxOptions(...containerTypes, 'container_engine_t')],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    since: [
      [0, seccompAnnotations],
      [19, seccompProfile],
    ],
  },
  {
    id: 'sysctls',
    since: [
      [0, sysctls(safeSysctls)],
      [27, sysctls(since27)],
      [29, sysctls(since29)],
      [32, sysctls(since32)],
    ],
  },
  { id: 'windowsHostProcess', since: [[0, windowsHostProcess]] },
]
