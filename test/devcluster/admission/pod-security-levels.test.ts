/** Tests of the violations of the Pod Security Standards, for each level and version. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { withPodSecurity } from '../../../src/devcluster/admission/pod-security.ts'
import { attributesOf, pods } from '../../support/devcluster/admission.ts'

const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

/**
 * Returns the error message if a Pod with this spec violates the level; undefined if the Pod does not violate the level. The message lists
 * all violations.
 */
async function violationsOf(level: string, spec: JsonObject, metadata: JsonObject = {}): Promise<string | undefined> {
  const [name, version] = level.split(':')
  const labels = {
    'pod-security.kubernetes.io/enforce': name!,
    ...(version === undefined ? {} : { 'pod-security.kubernetes.io/enforce-version': version }),
  }
  const admission = withPodSecurity(admitAll, { namespaceLabels: () => labels, podsIn: () => [] })
  const object = { metadata: { name: 'a', ...metadata }, spec }
  try {
    await admission.validate(attributesOf(pods, { object }))
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^pods "a" is forbidden: violates PodSecurity "[^"]*": /, '')
  }
}
const main = (more: JsonObject = {}): JsonObject => ({ name: 'main', image: 'x', ...more })
const settings = (context: JsonObject, name = 'main'): JsonObject => ({ name, image: 'x', securityContext: context })
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const ofContainer = 'container.seccomp.security.alpha.kubernetes.io/'

const baseline: [name: string, spec: JsonObject, said: string | undefined, annotations?: JsonObject, version?: string][] = [
  ['nothing', { containers: [main()] }, undefined],
  ['nothing at all', {}, undefined],
  [
    'AppArmor of the Pod and of containers',
    {
      securityContext: { appArmorProfile: {} },
      containers: [settings({ appArmorProfile: { type: 'Unconfined' } }), settings({ appArmorProfile: { type: 'Localhost' } }, 'b')],
    },
    'forbidden AppArmor profiles (pod and container "main" must not set AppArmor profile type to "", "Unconfined")',
  ],
  ['AppArmor that is fine', { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, undefined],
  [
    'AppArmor by annotation',
    {},
    `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${appArmor}a="unconfined"")`,
    {
      [`${appArmor}a`]: 'unconfined',
      [`${appArmor}b`]: '',
      [`${appArmor}c`]: 'runtime/default',
      [`${appArmor}d`]: 'localhost/x',
      other: 'unconfined',
    },
  ],
  [
    'AppArmor by annotations',
    { containers: [settings({ appArmorProfile: { type: 'X' } })] },
    `forbidden AppArmor profiles (container "main" and annotations must not set AppArmor profile type to "X", "${appArmor}a="x"", "${appArmor}b="y"")`,
    { [`${appArmor}b`]: 'y', [`${appArmor}a`]: 'x' },
  ],
  [
    'capabilities of all kinds of containers',
    {
      containers: [settings({ capabilities: { add: ['B', 'CHOWN'] } })],
      initContainers: [settings({ capabilities: { add: ['A', 'B'] } }, 'i')],
      ephemeralContainers: [settings({ capabilities: { add: ['NET_BIND_SERVICE'], drop: ['X'] } }, 'e')],
    },
    'non-default capabilities (containers "i", "main" must not include "A", "B" in securityContext.capabilities.add)',
  ],
  [
    'all default capabilities',
    {
      containers: [
        settings({
          capabilities: {
            add: [
              ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP'],
              ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
            ],
          },
        }),
      ],
    },
    undefined,
  ],
  ['one namespace of the host', { hostPID: true, hostIPC: false }, 'host namespaces (hostPID=true)'],
  [
    'all namespaces of the host',
    { hostIPC: true, hostPID: true, hostNetwork: true },
    'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  ],
  [
    'hostPaths',
    {
      volumes: [
        { name: 'w', hostPath: {} },
        { name: 'v', hostPath: {} },
      ],
    },
    'hostPath volumes (volumes "w", "v")',
  ],
  [
    'ports of the host',
    {
      containers: [main({ ports: [{ hostPort: 81 }, { hostPort: 80 }] }), { name: 'b', ports: [{ hostPort: 80 }] }],
      initContainers: [{ name: 'i', ports: [{ containerPort: 80 }] }],
    },
    'hostPort (containers "main", "b" use hostPorts 80, 81)',
  ],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) =>
    ['httpGet', 'tcpSocket'].map((action): [string, JsonObject, string] => [
      `${action} of a ${probe}`,
      { containers: [main({ [probe]: { [action]: { host: 'h' } } })] },
      'probe or lifecycle host (container "main" uses probe or lifecycle host "h")',
    ]),
  ),
  ...['postStart', 'preStop'].flatMap((hook) =>
    ['httpGet', 'tcpSocket'].map((action): [string, JsonObject, string] => [
      `${action} of a ${hook} hook`,
      { containers: [main({ lifecycle: { [hook]: { [action]: { host: 'h' } } } })] },
      'probe or lifecycle host (container "main" uses probe or lifecycle host "h")',
    ]),
  ),
  [
    'one hostPath',
    {
      volumes: [
        { name: 'v', hostPath: {} },
        { name: 'w', emptyDir: {} },
      ],
    },
    'hostPath volumes (volume "v")',
  ],
  [
    'a port of the host',
    { containers: [main({ ports: [{ hostPort: 80 }, { hostPort: 0 }, {}] })] },
    'hostPort (container "main" uses hostPort 80)',
  ],
  [
    'probes and hooks',
    {
      containers: [
        main({
          readinessProbe: { httpGet: { host: '' }, tcpSocket: { host: 'r' } },
          startupProbe: { httpGet: { host: 's' } },
          lifecycle: { postStart: { httpGet: { host: 'p' } } },
        }),
        { name: 'b', livenessProbe: { tcpSocket: { host: 'r' } } },
        { name: 'c', livenessProbe: { httpGet: { path: '/' } } },
      ],
    },
    'probe or lifecycle host (containers "b", "main" use probe or lifecycle hosts "p", "r", "s")',
  ],
  ['probes in an older version', { containers: [main({ startupProbe: { httpGet: { host: 's' } } })] }, undefined, {}, 'v1.33'],
  [
    'probes since 1.34',
    { containers: [main({ startupProbe: { httpGet: { host: 's' } } })] },
    'probe or lifecycle host (container "main" uses probe or lifecycle host "s")',
    {},
    'v1.34',
  ],
  [
    'privileged containers',
    {
      containers: [settings({ privileged: true }), settings({ privileged: false }, 'b')],
      initContainers: [settings({ privileged: true }, 'i')],
    },
    'privileged (containers "i", "main" must not set securityContext.privileged=true)',
  ],
  [
    'a whole /proc',
    { containers: [settings({ procMount: 'Unmasked' }), settings({ procMount: 'Default' }, 'b')] },
    'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
  ],
  ['with users of its own', { hostUsers: false, containers: [settings({ procMount: 'Unmasked' })] }, undefined, {}, 'v1.35'],
  [
    'before that counted',
    { hostUsers: false, containers: [settings({ procMount: 'Unmasked' })] },
    'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
    {},
    'v1.34',
  ],
  [
    'an SELinux role',
    { securityContext: { seLinuxOptions: { role: 'r', type: '' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: role may not be set)',
  ],
  [
    'an SELinux user',
    { containers: [settings({ seLinuxOptions: { user: 'u' } })] },
    'seLinuxOptions (container "main" set forbidden securityContext.seLinuxOptions: user may not be set)',
  ],
  [
    'an SELinux type',
    { containers: [settings({ seLinuxOptions: { type: 'x' } })] },
    'seLinuxOptions (container "main" set forbidden securityContext.seLinuxOptions: type "x")',
  ],
  [
    'SELinux types, users and roles',
    {
      securityContext: { seLinuxOptions: { type: 'y', user: 'u' } },
      containers: [
        settings({ seLinuxOptions: { type: 'x' } }),
        settings({ seLinuxOptions: { type: 'y', role: 'r' } }, 'b'),
        settings({ seLinuxOptions: { level: 's0' } }, 'c'),
      ],
    },
    'seLinuxOptions (pod and containers "main", "b" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not be set; role may not be set)',
  ],
  [
    'SELinux types of containers',
    {
      containers: ['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'].map((type) =>
        settings({ seLinuxOptions: { type } }, type),
      ),
    },
    undefined,
  ],
  [
    'one of them is newer',
    { containers: [settings({ seLinuxOptions: { type: 'container_engine_t' } })] },
    'seLinuxOptions (container "main" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
    {},
    'v1.30',
  ],
  ['as of 1.31', { containers: [settings({ seLinuxOptions: { type: 'container_engine_t' } })] }, undefined, {}, 'v1.31'],
  [
    'seccomp by annotation',
    { containers: [main()] },
    `seccompProfile (forbidden annotation ${seccomp}="unconfined")`,
    { [seccomp]: 'unconfined', [`${ofContainer}other`]: 'unconfined' },
    'v1.18',
  ],
  [
    'seccomp by annotations',
    { containers: [main()] },
    `seccompProfile (forbidden annotations ${ofContainer}main="y", ${seccomp}="x")`,
    { [seccomp]: 'x', [`${ofContainer}main`]: 'y' },
    'v1.0',
  ],
  [
    'annotations that are fine',
    { containers: [main(), main({ name: 'b' })] },
    undefined,
    { [seccomp]: 'runtime/default', [`${ofContainer}main`]: 'docker/default', [`${ofContainer}b`]: 'localhost/x' },
    'v1.18',
  ],
  ['annotations mean nothing since 1.19', { containers: [main()] }, undefined, { [seccomp]: 'unconfined' }, 'v1.19'],
  [
    'seccomp profiles',
    {
      securityContext: { seccompProfile: {} },
      containers: [settings({ seccompProfile: { type: 'Unconfined' } }), settings({ seccompProfile: { type: 'Localhost' } }, 'b')],
    },
    'seccompProfile (pod and container "main" must not set securityContext.seccompProfile.type to "", "Unconfined")',
  ],
  ['a seccomp profile before there were some', { securityContext: { seccompProfile: { type: 'Unconfined' } } }, undefined, {}, 'v1.18'],
  [
    'hostProcess',
    { securityContext: { windowsOptions: { hostProcess: true } }, containers: [settings({ windowsOptions: { hostProcess: true } })] },
    'hostProcess (pod and container "main" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  ['no hostProcess', { securityContext: { windowsOptions: { hostProcess: false } } }, undefined],
]

t.test('baseline reports the violations of each of its checks', async (t) => {
  for (const [name, spec, expected, annotations = {}, version] of baseline)
    t.equal(await violationsOf(version === undefined ? 'baseline' : `baseline:${version}`, spec, { annotations }), expected, name)
})

t.test('a safe sysctl is allowed since its version', async (t) => {
  const since: Record<string, number> = {
    'kernel.shm_rmid_forced': 0,
    'net.ipv4.ip_local_port_range': 0,
    'net.ipv4.tcp_syncookies': 0,
    'net.ipv4.ping_group_range': 0,
    'net.ipv4.ip_unprivileged_port_start': 0,
    'net.ipv4.ip_local_reserved_ports': 27,
    'net.ipv4.tcp_keepalive_time': 29,
    'net.ipv4.tcp_fin_timeout': 29,
    'net.ipv4.tcp_keepalive_intvl': 29,
    'net.ipv4.tcp_keepalive_probes': 29,
    'net.ipv4.tcp_rmem': 32,
    'net.ipv4.tcp_wmem': 32,
  }
  for (const [name, first] of Object.entries(since)) {
    const spec = { securityContext: { sysctls: [{ name }] } }
    t.equal(await violationsOf(`baseline:v1.${first}`, spec), undefined, name)
    t.equal(await violationsOf('baseline', spec), undefined, name)
    if (first > 0) t.equal(await violationsOf(`baseline:v1.${first - 1}`, spec), `forbidden sysctls (${name})`)
  }
  t.equal(await violationsOf('baseline', { securityContext: { sysctls: [{ name: 'b' }, { name: 'a' }] } }), 'forbidden sysctls (b, a)')
})

const good = { ...securityContext, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
const strict: [name: string, spec: JsonObject, said: string | undefined, version?: string][] = [
  ['what each container says', { containers: [settings(good)] }, undefined],
  [
    'escalation',
    { containers: [settings({ ...good, allowPrivilegeEscalation: true })] },
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)',
  ],
  ['escalation before 1.8', { containers: [settings({ ...good, allowPrivilegeEscalation: true })] }, undefined, 'v1.7'],
  [
    'escalation since 1.8',
    { containers: [settings({ ...good, allowPrivilegeEscalation: true })] },
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)',
    'v1.8',
  ],
  [
    'capabilities that are kept',
    { containers: [settings({ ...good, capabilities: { drop: ['X'] } })] },
    'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])',
  ],
  ['capabilities before 1.22', { containers: [settings({ ...good, capabilities: { drop: ['X'] } })] }, undefined, 'v1.21'],
  [
    'capabilities since 1.22',
    { containers: [settings({ ...good, capabilities: { drop: ['X'] } })] },
    'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])',
    'v1.22',
  ],
  [
    'capabilities that are added',
    { containers: [settings({ ...good, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'CHOWN'] } })] },
    'unrestricted capabilities (container "main" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    'before that baseline counts',
    { containers: [settings({ ...good, capabilities: { add: ['X', 'CHOWN'] } })] },
    'non-default capabilities (container "main" must not include "X" in securityContext.capabilities.add)',
    'v1.21',
  ],
  ['one port below 1024', { containers: [settings({ ...good, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } })] }, undefined],
  [
    'a volume',
    {
      containers: [settings(good)],
      volumes: [
        { name: 'v', nfs: {} },
        { name: 'w', secret: {} },
      ],
    },
    'restricted volume types (volume "v" uses restricted volume type "nfs")',
  ],
  [
    'volumes',
    {
      containers: [settings(good)],
      volumes: [
        { name: 'v', rbd: {} },
        { name: 'w', hostPath: {} },
        { name: 'x', new: {} },
        { name: 'y', rbd: {} },
      ],
    },
    'restricted volume types (volumes "v", "w", "x", "y" use restricted volume types "hostPath", "rbd", "unknown")',
  ],
  ...[
    ...[
      'awsElasticBlockStore',
      'azureDisk',
      'azureFile',
      'cephfs',
      'cinder',
      'fc',
      'flexVolume',
      'flocker',
      'gcePersistentDisk',
      'gitRepo',
    ],
    ...['glusterfs', 'hostPath', 'iscsi', 'nfs', 'photonPersistentDisk', 'portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos'],
    'vsphereVolume',
  ].map((type): [string, JsonObject, string] => [
    `a volume of the type ${type}`,
    { containers: [settings(good)], volumes: [{ name: 'v', [type]: {} }] },
    `restricted volume types (volume "v" uses restricted volume type "${type}")`,
  ]),
  [
    'volumes that are fine',
    {
      containers: [settings(good)],
      volumes: ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'].map(
        (type) => ({ name: type, [type]: {} }),
      ),
    },
    undefined,
  ],
  [
    'nobody says non-root',
    { containers: [settings({ ...good, runAsNonRoot: undefined }), settings(good, 'b')] },
    'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'a container says root',
    { securityContext: { runAsNonRoot: true }, containers: [settings({ ...good, runAsNonRoot: false })] },
    'runAsNonRoot != true (container "main" must not set securityContext.runAsNonRoot=false)',
  ],
  ['the user root', { securityContext: { runAsUser: 0 }, containers: [settings(good)] }, 'runAsUser=0 (pod must not set runAsUser=0)'],
  ['another user', { securityContext: { runAsUser: 1 }, containers: [settings(good)] }, undefined],
  ['the user root before 1.23', { securityContext: { runAsUser: 0 }, containers: [settings(good)] }, undefined, 'v1.22'],
  [
    'the user root since 1.23',
    { securityContext: { runAsUser: 0 }, containers: [settings(good)] },
    'runAsUser=0 (pod must not set runAsUser=0)',
    'v1.23',
  ],
  [
    'root with users of its own',
    { hostUsers: false, securityContext: { runAsUser: 0 }, containers: [settings({ ...good, runAsNonRoot: undefined })] },
    undefined,
    'v1.35',
  ],
  [
    'before that counted',
    { hostUsers: false, securityContext: { runAsUser: 0 }, containers: [settings(good)] },
    'runAsUser=0 (pod must not set runAsUser=0)',
    'v1.34',
  ],
  [
    'non-root with users of its own before that counted',
    { hostUsers: false, containers: [settings({ ...good, runAsNonRoot: undefined })] },
    'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)',
    'v1.34',
  ],
  [
    'nobody says seccomp',
    { containers: [settings({ ...good, seccompProfile: undefined }), settings(good, 'b')] },
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  ['seccomp before 1.19', { containers: [settings({ ...good, seccompProfile: undefined })] }, undefined, 'v1.18'],
  [
    'seccomp since 1.19',
    { containers: [settings({ ...good, seccompProfile: undefined })] },
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    'v1.19',
  ],
  [
    'seccomp of a container',
    { securityContext: { seccompProfile: { type: 'Localhost' } }, containers: [settings({ ...good, seccompProfile: { type: 'X' } })] },
    'seccompProfile (container "main" must not set securityContext.seccompProfile.type to "X")',
  ],
  ['Windows', { os: { name: 'windows' }, containers: [settings({ runAsNonRoot: true })] }, undefined, 'v1.25'],
  [
    'Windows before 1.25',
    { os: { name: 'windows' }, containers: [settings({ runAsNonRoot: true, seccompProfile: { type: 'Localhost' } })] },
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])',
    'v1.24',
  ],
  [
    'Linux since 1.25',
    { os: { name: 'linux' }, containers: [settings({ ...good, seccompProfile: undefined })] },
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    'v1.25',
  ],
  [
    'Windows before it was different',
    { os: { name: 'windows' }, containers: [settings({ ...good, seccompProfile: undefined })] },
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    'v1.24',
  ],
  [
    'a whole /proc with users of its own',
    { hostUsers: false, containers: [settings({ ...good, procMount: 'Unmasked' })] },
    'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
    'v1.35',
  ],
]

t.test('restricted reports the violations of each of its checks', async (t) => {
  for (const [name, spec, expected, version] of strict)
    t.equal(
      await violationsOf(version === undefined ? 'restricted' : `restricted:${version}`, JSON.parse(JSON.stringify(spec)) as JsonObject),
      expected,
      name,
    )
})
