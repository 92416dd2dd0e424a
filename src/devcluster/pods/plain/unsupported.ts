/** `unsupported` lists the fields of a container that the driver `plain` cannot apply. */
import { resolve } from 'node:path'
import type { ContainerOptions, Mount, ProcessUser } from '../driver.ts'

/**
 * Returns one sentence for each field of the container that the driver `plain` cannot apply. Returns an empty list when the driver can run
 * the container. The fields have the names of the Pod API (k8s.io/api/core/v1: Container, PodSecurityContext).
 */
export function unsupported({ image, isRootReadOnly, mounts, user }: ContainerOptions): string[] {
  return [
    ...(image === undefined ? [] : [`image: a process has the files of this machine and cannot have the root ${image}`]),
    ...(isRootReadOnly ? ['securityContext.readOnlyRootFilesystem: a process can write where the user of Proreus can'] : []),
    ...(user === undefined ? [] : unsupportedUser(user)),
    ...mounts.flatMap(unsupportedMount),
  ]
}

function unsupportedUser({ uid, gid, supplementalGroups }: ProcessUser): string[] {
  const [ownUid, ownGid] = [process.getuid?.(), process.getgid?.()]
  const groups = [ownGid, ...(process.getgroups?.() ?? [])]
  const missing = [...new Set(supplementalGroups)].filter((group) => !groups.includes(group))
  return [
    ...(uid === ownUid ? [] : [`securityContext.runAsUser: a process has the uid of Proreus, ${ownUid}, and not ${uid}`]),
    ...(gid === ownGid ? [] : [`securityContext.runAsGroup: a process has the gid of Proreus, ${ownGid}, and not ${gid}`]),
    ...missing.map((group) => `securityContext.supplementalGroups or fsGroup: the user of Proreus is not in the group ${group}`),
  ]
}

function unsupportedMount({ source, target, isReadOnly }: Mount): string[] {
  if (resolve(source) !== resolve(target)) return [`volumeMounts.mountPath: a process sees ${source} at its own path, and not at ${target}`]
  return isReadOnly ? [`volumeMounts.readOnly: a process can write to ${target} if the user of Proreus can`] : []
}
