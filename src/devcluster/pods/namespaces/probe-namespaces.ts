/**
 * `probeNamespaces`: tries each program and each feature of Linux that the driver `namespaces` uses, to find out which of them work on this
 * machine.
 */
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../../api/errors.ts'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import { idMappings, loginName } from './id-mapping.ts'
import { defaultBridgeAddress } from './namespaces-driver.ts'
import type { OpenedCluster } from './open-cluster.ts'
import { openCluster } from './open-cluster.ts'
import { PodNamespaces } from './pod-namespaces.ts'
import { findProgram } from './programs.ts'

/** A program or a feature of Linux that the driver uses. */
export interface Capability {
  readonly name: string
  readonly works: boolean
  /** The reason why the capability does not work, usually the text that the failed program has written to stderr. */
  readonly reason?: string
  /** Advice to make the capability work, for example a setting or a package. */
  readonly remedy?: string
  /** True when the driver cannot run containers without the capability. */
  readonly isRequired: boolean
}

interface Attempt {
  readonly name: string
  readonly isRequired: boolean
  readonly remedy: string
  /** Tries the capability. Rejects when the capability does not work. */
  run(): Promise<unknown>
}

/** The programs that the driver starts, with their packages in Debian. */
const programs: readonly (readonly [program: string, packageName: string, isRequired: boolean])[] = [
  ['unshare', 'util-linux', true],
  ['nsenter', 'util-linux', true],
  ['setpriv', 'util-linux', true],
  ['mount', 'mount', true],
  ['ip', 'iproute2', true],
  ['hostname', 'hostname', true],
  ['newuidmap', 'uidmap', false],
  ['newgidmap', 'uidmap', false],
  ['script', 'bsdutils', false],
]

/** Tries each capability of the driver, and removes everything that the trials have created. Never rejects. */
export async function probeNamespaces(): Promise<readonly Capability[]> {
  const found = await Promise.all(programs.map(probeProgram))
  const opened = await openCluster({ bridgeAddress: defaultBridgeAddress, temporaryDirectory: tmpdir() })
  const namespaces = await probeCluster(opened)
  const { cluster } = opened
  if (cluster === undefined) return [...found, ...namespaces]
  try {
    const tried = await Promise.all(attempts(cluster).map(attempt))
    return [...found, ...namespaces, ...tried]
  } finally {
    await cluster.close()
  }
}

async function probeProgram([name, packageName, isRequired]: (typeof programs)[number]): Promise<Capability> {
  const works = (await findProgram(name)) !== undefined
  const lack = works ? {} : { reason: `the program ${name} is missing`, remedy: `install the package ${packageName}` }
  return { name: `program ${name}`, works, isRequired, ...lack }
}

/**
 * Returns the capability `namespaces`, which works if the namespaces of the cluster could be created. If the namespaces were created, also
 * returns the capability `subordinate ids`, which works if the namespaces have more than one user id.
 */
async function probeCluster({ cluster, failures }: OpenedCluster): Promise<readonly Capability[]> {
  const reasons = failures.map(({ error }) => messageOf(error)).join('; ')
  if (cluster === undefined) {
    return [{ name: 'namespaces', works: false, reason: reasons, remedy: await namespacesRemedy(), isRequired: true }]
  }
  const hasIds = cluster.ids.kind !== 'single'
  const user = loginName() ?? `with the uid ${process.getuid?.()}`
  const wasTried = (await idMappings()).some(({ kind }) => kind === 'subordinate')
  const lack = {
    reason: wasTried ? reasons : `/etc/subuid and /etc/subgid have no line for the user ${user}`,
    remedy:
      `install the package uidmap, and run as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${loginName() ?? 'USER'}. ` +
      'Without it, all processes of a container have one user.',
  }
  return [
    { name: 'namespaces', works: true, isRequired: true },
    { name: 'subordinate ids', works: hasIds, isRequired: false, ...(hasIds ? {} : lack) },
  ]
}

function attempts(cluster: ClusterSandbox): readonly Attempt[] {
  const inOwnMounts = (script: string): Promise<string> =>
    cluster.run(
      ['mount', 'net', 'pid'],
      ['unshare', '--mount', '--ipc', '--pid', '--fork', '--', 'sh', '-ec', script, 'sh', cluster.directory],
    )
  const userxattr = cluster.ids.kind === 'machine' ? '' : 'userxattr,'
  const overlay = `cd "$1"; mkdir probe probe/upper probe/work probe/root
    mount -n -t overlay -o ${userxattr}lowerdir=/usr,upperdir=probe/upper,workdir=probe/work overlay probe/root`
  return [
    {
      name: 'network with veth',
      isRequired: true,
      remedy: 'load the kernel modules bridge and veth: modprobe -a bridge veth',
      async run() {
        const network = { address: '10.244.255.254', gateway: '10.244.0.1', prefixLength: 16 }
        await (await PodNamespaces.open(cluster, { hostname: 'probe', link: 'probe', network })).close()
      },
    },
    {
      name: 'overlay',
      isRequired: false,
      remedy: 'Linux 5.11 or later, with the module overlay. Without it, containers see the folders of this machine read-only.',
      run: () => inOwnMounts(overlay),
    },
    {
      name: 'own /proc',
      isRequired: false,
      remedy:
        'run Proreus outside of a container, or in one whose /proc is not masked. Without it, containers see the processes of this machine.',
      run: () => inOwnMounts(`mount -n -t proc proc /proc`),
    },
    {
      name: 'terminals',
      isRequired: false,
      remedy: 'load the file system devpts, and install util-linux 2.36 or later. Without it, containers cannot have a terminal.',
      run: () =>
        inOwnMounts(`mount -n -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts; mount -n --bind /dev/pts/ptmx /dev/ptmx
        script --quiet --return --flush --echo always --command 'tty' /dev/null`),
    },
    {
      name: 'another uid',
      isRequired: false,
      remedy: 'see the subordinate ids',
      run: () => cluster.run([], ['setpriv', '--reuid', '999', '--regid', '999', '--clear-groups', 'true']),
    },
  ]
}

async function attempt({ name, isRequired, remedy, run }: Attempt): Promise<Capability> {
  try {
    await run()
    return { name, works: true, isRequired }
  } catch (error) {
    return { name, works: false, isRequired, reason: messageOf(error), remedy }
  }
}

/** Returns commands that change the settings which forbid namespaces. If no known setting forbids namespaces, returns other advice. */
async function namespacesRemedy(): Promise<string> {
  const settings = [
    ['user/max_user_namespaces', '0', '15000'],
    ['kernel/unprivileged_userns_clone', '0', '1'],
    ['kernel/apparmor_restrict_unprivileged_userns', '1', '0'],
  ] as const
  const remedies: string[] = []
  for (const [file, forbidden, value] of settings) {
    const text = await readFile(join('/proc/sys', file), 'utf8').catch(() => '')
    if (text.trim() === forbidden) remedies.push(`sysctl -w ${file.replace('/', '.')}=${value}`)
  }
  if (process.platform !== 'linux') return 'run Proreus on Linux, for example in a virtual machine'
  if (remedies.length > 0) return remedies.join('; ')
  return 'run Proreus outside of a container, or in one that permits namespaces, for example with --privileged'
}
