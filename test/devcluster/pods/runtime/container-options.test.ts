/** Tests of the options that the driver receives for a container. */
import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { eventsOf, podWithoutProcesses } from '../../../support/pods/pod-without-processes.ts'

/** In Kubernetes, the container runtime sets HOME (github.com/opencontainers/runc/libcontainer: prepareEnv). */
t.test('HOME is the home of the user in the passwd file of the image', async (t) => {
  const image = t.testdir({
    etc: { passwd: '+::::::\nroot:x:0:0::/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:\nbare:x:7:7::\n' },
  })
  const homes: readonly (readonly [container: object, home: string])[] = [
    [{}, '/root'],
    [{ securityContext: { runAsUser: 999 } }, '/var/lib/postgresql'],
    [{ securityContext: { runAsUser: 7 } }, '/'],
    [{ securityContext: { runAsUser: 4242 } }, '/'],
    [{ env: [{ name: 'HOME', value: '/srv' }] }, '/srv'],
    [{ env: [{ name: 'HOME' }] }, '/root'],
  ]
  for (const [container, home] of homes) {
    const { start, destroy } = await podWithoutProcesses(t, { containers: [container] }, { images: { x: image } })
    const { options } = await start()
    t.equal(options.environment['HOME'], home, JSON.stringify(container))
    await destroy()
  }
})

t.test('in the mode plain, HOME is the home of the user who runs Proreus', async (t) => {
  const { start } = await podWithoutProcesses(t, {}, { mode: 'plain' })
  t.equal((await start()).options.environment['HOME'], userInfo().homedir)
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet: containerResourceRuntimeValue. */
t.test('without a limit, resourceFieldRef shows what the node can allocate', async (t) => {
  const resourceFieldRef = { containerName: 'main', resource: 'limits.cpu' }
  const { stateFolder, pod, start } = await podWithoutProcesses(t, {
    containers: [
      {
        env: [{ name: 'CPUS', valueFrom: { resourceFieldRef } }],
        volumeMounts: [{ name: 'info', mountPath: '/info' }],
      },
    ],
    volumes: [
      { name: 'info', downwardAPI: { items: [{ path: 'memory', resourceFieldRef: { ...resourceFieldRef, resource: 'limits.memory' } }] } },
    ],
  })
  t.equal((await start()).options.environment['CPUS'], '8')
  const file = join(stateFolder, 'pods', pod.pod.metadata.uid, 'volumes', 'info', 'memory')
  t.equal(await readFile(file, 'utf8'), String(32 * 1024 ** 3))
})

const missingDns =
  'Warning MissingClusterDNS: pod: "web_ns(11111111-2222-3333-4444-555555555555)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'
const servers = ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']
const tooMany =
  'Warning DNSConfigForming: Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3'

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/network/dns: Configurer.GetPodDNS. */
t.test('warnings about the DNS settings of a Pod are Events, once for the Pod', async (t) => {
  const dns = { clusterDns: [], clusterDomain: 'cluster.local', resolvConf: '' }
  const spec = { containers: [{}, { name: 'side' }], dnsConfig: { nameservers: servers } }
  const { pod, start } = await podWithoutProcesses(t, spec, { context: { dns } })
  await start()
  t.strictSame(eventsOf(pod), [missingDns, tooMany])
  await start('side')
  await start()
  t.strictSame(eventsOf(pod), [])
})

t.test('in the mode plain, the DNS settings are those of the machine, so only the missing DNS of the cluster is an Event', async (t) => {
  const dns = { clusterDns: [], clusterDomain: 'cluster.local', resolvConf: servers.map((server) => `nameserver ${server}\n`).join('') }
  const { pod, start } = await podWithoutProcesses(t, {}, { mode: 'plain', context: { dns } })
  await start()
  t.strictSame(eventsOf(pod), [missingDns])
})

/**
 * The expected results are those of k8s.io/kubernetes/pkg/kubelet/kuberuntime: generatePodSandboxConfig, and of pkg/kubelet:
 * nodeHostsFileContent.
 */
t.test('a Pod with hostNetwork has the host name and the hosts file of its node', async (t) => {
  const hostAliases = [{ ip: '10.1.2.3', hostnames: ['db'] }]
  for (const [hostNetwork, hostname, hosts] of [
    [
      true,
      'laptop',
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\n# Entries added by HostAliases.\n10.1.2.3\tdb\n',
    ],
    [false, 'web', /^# Kubernetes-managed hosts file\.\n[^]*10\.244\.0\.7\tweb\n\n# Entries added by HostAliases\.\n10\.1\.2\.3\tdb\n$/],
  ] as const) {
    const { sandboxes, start } = await podWithoutProcesses(t, { hostNetwork, hostAliases })
    const { environment, mounts } = (await start()).options
    t.equal(sandboxes[0]?.hostname, hostname)
    t.equal(environment['HOSTNAME'], hostname)
    const contentOf = (path: string): Promise<string> => readFile(mounts.find(({ target }) => target === path)!.source, 'utf8')
    t.equal(await contentOf('/etc/hostname'), `${hostname}\n`)
    t.match(await contentOf('/etc/hosts'), hosts)
  }
})
