/**
 * The checks of the Pod Security Standard `restricted`. In addition to the checks of `baseline`, `restricted` requires hardening, such as
 * running as non-root (k8s.io/pod-security-admission/policy).
 */
import { isSeccompType, procMount, seccompProfile } from './pod-security-baseline.ts'
import type { Check, VersionedCheck } from './pod-security-check.ts'
import {
  containerNames,
  containersOf,
  exceptOwnUsers,
  exceptWindows,
  namesWhere,
  plural,
  quoted,
  settersOf,
  sortedSet,
} from './pod-security-check.ts'

const allowPrivilegeEscalation: Check = (pod) => {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containerNames(names)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

const capabilities: Check = (pod) => {
  const keeping = namesWhere(pod, ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true)
  const added = (container: { securityContext?: { capabilities?: { add?: readonly string[] } } }): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE')
  const adding = namesWhere(pod, (container) => added(container).length > 0)
  const details = [
    ...(keeping.length === 0 ? [] : [`${containerNames(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [
          `${containerNames(adding)} must not include ${quoted(sortedSet(containersOf(pod).flatMap(added)))} in securityContext.capabilities.add`,
        ]),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const volumeTypes = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret']
const otherVolumeTypes = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd', 'flexVolume'],
  ...['cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk'],
  ...['portworxVolume', 'scaleIO', 'storageos'],
]

const volumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !volumeTypes.some((type) => volume[type] !== undefined))
  if (bad.length === 0) return undefined
  const types = sortedSet(bad.map((volume) => otherVolumeTypes.find((type) => volume[type] !== undefined) ?? 'unknown'))
  const names = quoted(bad.map(({ name }) => name))
  const use = plural(bad.length, 'uses', 'use')
  return {
    reason: 'restricted volume types',
    detail: `${plural(bad.length, 'volume')} ${names} ${use} ${plural(types.length, 'restricted volume type')} ${quoted(types)}`,
  }
}

const runAsNonRoot: Check = (pod) => {
  const reason = 'runAsNonRoot != true'
  const setters = settersOf(pod, ({ runAsNonRoot: value }) => value === false)
  if (setters.length > 0) return { reason, detail: `${setters.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  return names.length === 0 ? undefined : { reason, detail: `pod or ${containerNames(names)} must set securityContext.runAsNonRoot=true` }
}

const runAsUser: Check = (pod) => {
  const setters = settersOf(pod, ({ runAsUser: value }) => value === 0)
  return setters.length === 0 ? undefined : { reason: 'runAsUser=0', detail: `${setters.join(' and ')} must not set runAsUser=0` }
}

const seccomp: Check = (pod) => {
  const explicit = seccompProfile(pod)
  if (explicit !== undefined) return explicit
  if (isSeccompType(pod.spec.securityContext?.seccompProfile?.type)) return undefined
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (names.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containerNames(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}

export const restrictedChecks: readonly VersionedCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    since: [
      [8, allowPrivilegeEscalation],
      [25, exceptWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    since: [
      [22, capabilities],
      [25, exceptWindows(capabilities)],
    ],
    overrides: 'capabilities_baseline',
  },
  { id: 'procMount_restricted', since: [[35, procMount]], overrides: 'procMount' },
  { id: 'restrictedVolumes', since: [[0, volumes]], overrides: 'hostPathVolumes' },
  {
    id: 'runAsNonRoot',
    since: [
      [0, runAsNonRoot],
      [35, exceptOwnUsers(runAsNonRoot)],
    ],
  },
  {
    id: 'runAsUser',
    since: [
      [23, runAsUser],
      [35, exceptOwnUsers(runAsUser)],
    ],
  },
  {
    id: 'seccompProfile_restricted',
    since: [
      [19, seccomp],
      [25, exceptWindows(seccomp)],
    ],
    overrides: 'seccompProfile_baseline',
  },
]
