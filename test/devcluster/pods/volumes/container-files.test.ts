import { lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { makeContainerFiles } from '../../../../src/devcluster/pods/volumes/container-files.ts'
import { podHostName } from '../../../../src/devcluster/pods/volumes/host-name.ts'
import { hostNetworkHostsFile, podHostsFile } from '../../../../src/devcluster/pods/volumes/hosts-file.ts'
import { podDns, resolvConf } from '../../../../src/devcluster/pods/volumes/resolv-conf.ts'
import { terminationMessage } from '../../../../src/devcluster/pods/volumes/termination-message.ts'
import { containerWith, podWith } from '../../../support/pods/fake-sources.ts'

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go: managedHostsFileContent, nodeHostsFileContent. */
t.test('/etc/hosts', async (t) => {
  const head =
    '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n' +
    'fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n'
  const aliases = [
    { ip: '1.2.3.4', hostnames: ['a', 'b.c'] },
    { ip: '5.6.7.8', hostnames: ['d'] },
  ]
  const tail = '\n# Entries added by HostAliases.\n1.2.3.4\ta\tb.c\n5.6.7.8\td\n'
  t.equal(podHostsFile(['10.0.0.7'], { hostname: 'web', domain: '' }), `${head}10.0.0.7\tweb\n`)
  t.equal(
    podHostsFile(['10.0.0.7', 'fd00::7'], { hostname: 'web-0', domain: 'db.ns.svc.cluster.local' }, aliases),
    `${head}10.0.0.7\tweb-0.db.ns.svc.cluster.local\tweb-0\nfd00::7\tweb-0.db.ns.svc.cluster.local\tweb-0\n${tail}`,
  )
  t.equal(
    hostNetworkHostsFile('127.0.0.1 localhost\n', aliases),
    `# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n${tail}`,
  )
  t.equal(hostNetworkHostsFile('x\n'), '# Kubernetes-managed hosts file (host network).\nx\n')
})

/**
 * The expected results are those of two functions of k8s.io/kubernetes: `GeneratePodHostNameAndDomain` in pkg/kubelet, and
 * `GetNodenameForKernel` in pkg/kubelet/util.
 */
t.test('host names', async (t) => {
  const of = (spec: object, name = 'web'): object => podHostName(podWith(spec, { name }), 'cluster.local')
  t.strictSame(of({}), { hostname: 'web', domain: '', nodename: 'web' })
  t.strictSame(of({ hostname: 'h', subdomain: 'db' }), { hostname: 'h', domain: 'db.ns.svc.cluster.local', nodename: 'h' })
  t.match(of({ subdomain: 'db', setHostnameAsFQDN: true }), { hostname: 'web', nodename: 'web.db.ns.svc.cluster.local' })
  t.match(of({ setHostnameAsFQDN: true }), { nodename: 'web' })
  t.strictSame(of({ hostnameOverride: 'a.b', subdomain: 'db' }), { hostname: 'a.b', domain: '', nodename: 'a.b' })
  t.match(of({}, `${'a'.repeat(62)}.-b`), { hostname: 'a'.repeat(62) })
  t.match(of({}, 'a.b'), { hostname: 'a.b' })
  t.throws(() => of({ hostname: 'A_' }), { message: /^pod Hostname "A_" is not a valid DNS label: / })
  t.throws(() => of({ subdomain: 'a.b' }), { message: /^pod Subdomain "a.b" is not a valid DNS label: / })
  t.throws(() => of({ subdomain: 's'.repeat(50), setHostnameAsFQDN: true }), {
    message: /is too long \(64 characters is the max, 75 characters requested\)$/,
  })
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/network/dns/dns.go: GetPodDNS. */
t.test('/etc/resolv.conf', async (t) => {
  const node = {
    clusterDns: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '# x\nnameserver 8.8.8.8\nsearch old\nsearch example.com. . corp\noptions ndots:2 rotate\noptions ndots:3\nnameserver\n',
  }
  const cluster = 'search ns.svc.cluster.local svc.cluster.local cluster.local example.com corp\nnameserver 10.96.0.10\noptions ndots:5\n'
  const own = 'search example.com corp\nnameserver 8.8.8.8\noptions ndots:3 rotate\n'
  const dnsConfig = {
    nameservers: ['9.9.9.9', '10.96.0.10'],
    searches: ['corp', 'extra'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  }
  const facts: readonly (readonly [spec: object, text: string])[] = [
    [{}, cluster],
    [{ dnsPolicy: 'ClusterFirst' }, cluster],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, own],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    [{ dnsPolicy: 'Default' }, own],
    [{ dnsPolicy: 'None' }, ''],
    [{ dnsPolicy: 'None', dnsConfig }, 'search corp extra\nnameserver 9.9.9.9\nnameserver 10.96.0.10\noptions ndots:2 edns0\n'],
    [
      { dnsConfig },
      'search ns.svc.cluster.local svc.cluster.local cluster.local example.com corp extra\nnameserver 10.96.0.10\nnameserver 9.9.9.9\noptions ndots:2 edns0\n',
    ],
  ]
  for (const [spec, text] of facts) {
    const dns = podDns(podWith(spec), node)
    t.equal(resolvConf(dns), text, JSON.stringify(spec))
    t.strictSame(dns.warnings, [])
  }
  const none = podDns(podWith(), { ...node, clusterDns: [] })
  t.equal(resolvConf(none), own)
  t.match(none.warnings, [
    { reason: 'MissingClusterDNS', message: /^pod: "web_ns\(1.*\)". kubelet does not have ClusterDNS IP configured/ },
  ])
})

t.test('settings beyond the limits of resolvers are omitted with a warning', async (t) => {
  const node = { clusterDns: ['1.1.1.1'], clusterDomain: '', resolvConf: '' }
  const of = (dnsConfig: object): ReturnType<typeof podDns> => podDns(podWith({ dnsPolicy: 'None', dnsConfig }), node)
  const servers = of({ nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'] })
  t.equal(servers.servers.length, 3)
  t.strictSame(servers.warnings, [
    {
      reason: 'DNSConfigForming',
      message:
        'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3',
    },
  ])
  const numbered = (count: number, length: number): readonly string[] => Array.from({ length: count }, (_, i) => `${i}`.padEnd(length, 'x'))
  t.equal(of({ searches: numbered(33, 3) }).searches.length, 32)
  t.equal(of({ searches: ['a', 'b'.repeat(254)] }).searches.length, 1)
  const long = of({ searches: numbered(20, 200) })
  t.equal(long.searches.length, 10)
  t.match(long.warnings, [
    { message: /^Search Line limits were exceeded, some search paths have been omitted, the applied search line is: 0xx/ },
  ])
})

t.test('the files of a container are rewritten in place', async (t) => {
  const stateFolder = t.testdir({})
  const options = { stateFolder, podUid: 'u', restartCount: 0, hosts: 'one\n', hostname: 'web', resolvConf: 'nameserver 1.1.1.1\n' }
  const old = process.umask(0o077)
  t.teardown(() => process.umask(old))
  const { mounts, terminationFile } = await makeContainerFiles(containerWith({}), options)
  t.strictSame(
    mounts.map(({ source, target }) => [source.slice(stateFolder.length), target]),
    [
      ['/pods/u/etc-hosts', '/etc/hosts'],
      ['/pods/u/etc-hostname', '/etc/hostname'],
      ['/pods/u/etc-resolv.conf', '/etc/resolv.conf'],
      ['/pods/u/containers/main/termination-log-0', '/dev/termination-log'],
    ],
  )
  const [hosts] = mounts
  const { ino, mode } = await stat(hosts!.source)
  t.equal(mode & 0o777, 0o644)
  t.equal((await stat(terminationFile)).mode & 0o777, 0o666)
  t.equal(await readFile(mounts[1]!.source, 'utf8'), 'web\n')
  const volumeMounts = ['/etc/resolv.conf', '/etc/hostname/'].map((mountPath) => ({ name: 'x', mountPath }))
  const next = await makeContainerFiles(containerWith({ volumeMounts, terminationMessagePath: 'tmp/end' }), {
    ...options,
    hosts: 'two\n',
    restartCount: 1,
  })
  t.strictSame(
    next.mounts.map(({ target }) => target),
    ['/etc/hosts', '/tmp/end'],
  )
  t.equal((await stat(hosts!.source)).ino, ino)
  t.equal(await readFile(hosts!.source, 'utf8'), 'two\n')
  t.not(next.terminationFile, terminationFile)
  await t.rejects(makeContainerFiles(containerWith({ name: '../x' }), options), { message: /cannot be the name of a file/ })
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/kuberuntime: getTerminationMessage, and of pkg/util/tail: ReadAtMost. */
t.test('the termination message', async (t) => {
  const folder = t.testdir({
    message: 'bye',
    empty: '',
    folder: {},
    long: `${'x'.repeat(10_000)}end`,
    link: t.fixture('symlink', 'message'),
  })
  const fifo = join(folder, 'fifo')
  spawnSync('mkfifo', [fifo])
  const lastLines = async (): Promise<string> => 'log'
  const of = (name: string, policy?: string, exitCode = 1): Promise<string> =>
    terminationMessage({ file: join(folder, name), policy, exitCode, lastLines })
  const fallback = 'FallbackToLogsOnError'
  t.equal(await of('message'), 'bye')
  t.equal(await of('message', fallback), 'bye')
  t.equal(await of('empty', 'File'), '')
  t.equal(await of('empty', fallback), 'log')
  t.equal(await of('empty', fallback, 0), '')
  t.equal(await of('gone', fallback), 'log')
  t.equal(await of('gone'), '')
  const long = await of('long')
  t.equal(long.length, 4096)
  t.ok(long.endsWith('xend'))
  for (const name of ['folder', 'link', 'fifo']) t.match(await of(name, fallback), /^Error on reading termination log /, name)
  const broken = { file: join(folder, 'empty'), policy: fallback, exitCode: 1, lastLines: () => Promise.reject(new Error('no log')) }
  t.equal(await terminationMessage(broken), 'Error on reading termination message from logs: no log')
  await writeFile(join(folder, 'empty'), 'now')
  await symlink('empty', join(folder, 'other'))
  t.ok((await lstat(join(folder, 'other'))).isSymbolicLink())
})
