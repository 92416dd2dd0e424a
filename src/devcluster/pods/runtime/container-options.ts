/** `containerOptions` creates the options with which the driver starts a container, such as the command, the variables and the mounts. */
import type { ContainerOptions } from '../driver.ts'
import { commandOf } from '../environment/command.ts'
import { containerEnvironment } from '../environment/container-environment.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'
import { makeContainerFiles } from '../volumes/container-files.ts'
import { podHostName } from '../volumes/host-name.ts'
import { hostNetworkHostsFile, podHostsFile } from '../volumes/hosts-file.ts'
import { podDns, resolvConf } from '../volumes/resolv-conf.ts'
import { homeOf, ownHome, processUser } from './process-user.ts'
import type { ProcessPod } from './process-pod.ts'

export interface StartOptions {
  readonly options: ContainerOptions
  /** The file of this machine into which the container writes its termination message. */
  readonly terminationFile: string
}

/** @throws {ContainerConfigError} when the container cannot be created from its spec. The message is that of the kubelet. */
export async function containerOptions(owner: ProcessPod, container: ReadonlyContainer, restarts: number): Promise<StartOptions> {
  const { pod, context, podIP } = owner
  const { images, objects, stateFolder, dns, node, driver } = context
  const isPlain = driver.mode === 'plain'
  const image = images.of(container)
  const { hostname, isOnHost } = owner
  const { hostAliases } = pod.spec ?? {}
  const variables = await containerEnvironment(pod, container, objects, owner.place)
  const { command, environment, workingDirectory, imageUser } = commandOf(container, {
    variables,
    hostname,
    image: image.config,
  })
  const dnsSettings = podDns(pod, dns)
  for (const { reason, message } of dnsSettings.warnings) {
    // In the mode `plain`, a container reads /etc/resolv.conf of this machine. In this mode, warnings about the limits of resolv.conf do
    // not apply.
    if (!isPlain || reason === 'MissingClusterDNS') owner.recordOnce({ type: 'Warning', reason, message })
  }
  const volumeMounts = await owner.volumes.mounts(container, variables)
  const files = await makeContainerFiles(container, {
    stateFolder,
    podUid: pod.metadata.uid,
    restartCount: restarts,
    hosts: isOnHost
      ? hostNetworkHostsFile(node.hosts, hostAliases)
      : podHostsFile([podIP], podHostName(pod, dns.clusterDomain), hostAliases),
    hostname,
    resolvConf: resolvConf(dnsSettings),
  })
  const user = await processUser(pod, container, { imageUser, image: image.folder, getsGroups: !isPlain })
  // runc sets HOME if HOME is absent or empty (github.com/opencontainers/runc/libcontainer: prepareEnv).
  const home = environment['HOME'] || (isPlain ? ownHome() : await homeOf(user?.uid ?? 0, image.folder))
  const { tty = false, stdin = false, securityContext } = container
  return {
    terminationFile: files.terminationFile,
    options: {
      command,
      environment: { ...environment, HOME: home },
      mounts: isPlain ? volumeMounts : [...files.mounts, ...volumeMounts],
      isRootReadOnly: securityContext?.readOnlyRootFilesystem === true,
      tty,
      stdin,
      ...(workingDirectory !== undefined && { workingDirectory }),
      ...(image.folder !== undefined && { image: image.folder }),
      ...(user !== undefined && { user }),
    },
  }
}
