/** Tests of the errors and warnings of Pod Security admission. The namespace labels `pod-security.kubernetes.io/…` select the levels. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

type Spec = Record<string, unknown>

const settings = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
/** Returns a container with the fields that the level `restricted` requires. The arguments override or add fields. */
const container = (securityContext: Spec = {}, more: Spec = {}): Spec => ({
  name: 'a',
  image: 'b',
  securityContext: { ...settings, ...securityContext },
  ...more,
})
/** Returns a Pod spec with the fields that the level `restricted` requires. The arguments override or add fields. */
const restricted = ({ securityContext = {}, ...more }: Spec & { securityContext?: Spec } = {}): Spec => ({
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...securityContext },
  containers: [container()],
  ...more,
})

interface Case {
  readonly spec: Spec
  readonly annotations?: Record<string, string>
  /** The message about the violations of the level `restricted`; undefined when the level allows the Pod. */
  readonly restricted?: string
  /** The message about the violations of the level `baseline`; undefined when the level allows the Pod. */
  readonly baseline?: string
}

const hostPath = { name: 'v', hostPath: { path: '/' } }
const cases: Readonly<Record<string, Case>> = {
  'nothing said': {
    spec: { containers: [{ name: 'a', image: 'b' }], initContainers: [{ name: 'i', image: 'b' }] },
    restricted: [
      'allowPrivilegeEscalation != false (containers "i", "a" must set securityContext.allowPrivilegeEscalation=false), ',
      'unrestricted capabilities (containers "i", "a" must set securityContext.capabilities.drop=["ALL"]), ',
      'runAsNonRoot != true (pod or containers "i", "a" must set securityContext.runAsNonRoot=true), ',
      'seccompProfile (pod or containers "i", "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ].join(''),
  },
  'all that is asked for': { spec: restricted({ volumes: [{ name: 'e', emptyDir: {} }] }) },
  'Windows needs less': {
    spec: { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: [{ name: 'a', image: 'b' }] },
  },
  "the node's namespaces": {
    spec: restricted({ hostNetwork: true, hostPID: true, hostIPC: true }),
    baseline: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    restricted: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  },
  volumes: {
    spec: restricted({ volumes: [hostPath, { ...hostPath, name: 'w' }, { name: 'n', nfs: { server: 's', path: '/' } }] }),
    baseline: 'hostPath volumes (volumes "v", "w")',
    restricted: 'restricted volume types (volumes "v", "w", "n" use restricted volume types "hostPath", "nfs")',
  },
  "the node's ports": {
    spec: restricted({
      containers: [
        container({}, { ports: [{ containerPort: 9, hostPort: 9 }] }),
        container({}, { name: 'd', ports: [{ containerPort: 10, hostPort: 10 }] }),
      ],
    }),
    baseline: 'hostPort (containers "a", "d" use hostPorts 10, 9)',
    restricted: 'hostPort (containers "a", "d" use hostPorts 10, 9)',
  },
  privileged: {
    spec: restricted({ containers: [container({ privileged: true, allowPrivilegeEscalation: true })] }),
    baseline: 'privileged (container "a" must not set securityContext.privileged=true)',
    restricted: [
      'privileged (container "a" must not set securityContext.privileged=true), ',
      'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
    ].join(''),
  },
  capabilities: {
    spec: restricted({ containers: [container({ capabilities: { add: ['SYS_TIME', 'CHOWN', 'NET_ADMIN', 'NET_BIND_SERVICE'] } })] }),
    baseline: 'non-default capabilities (container "a" must not include "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
    restricted: [
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; ',
      'container "a" must not include "CHOWN", "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
    ].join(''),
  },
  'a whole /proc, with users of its own': {
    spec: restricted({ hostUsers: false, containers: [container({ procMount: 'Unmasked' })] }),
    restricted: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  },
  'root, with users of its own': {
    spec: restricted({ hostUsers: false, securityContext: { runAsNonRoot: false, runAsUser: 0 } }),
  },
  root: {
    spec: restricted({
      securityContext: { runAsNonRoot: false, runAsUser: 0 },
      containers: [container({ runAsNonRoot: false, runAsUser: 0 })],
    }),
    restricted: [
      'runAsNonRoot != true (pod and container "a" must not set securityContext.runAsNonRoot=false), ',
      'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
    ].join(''),
  },
  SELinux: {
    spec: restricted({
      securityContext: { seLinuxOptions: { type: 'x', user: 'u', role: 'r' } },
      containers: [container({ seLinuxOptions: { type: 'y' } }), container({ seLinuxOptions: { type: 'container_t' } }, { name: 'z' })],
    }),
    baseline:
      'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not be set; role may not be set)',
    restricted:
      'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not be set; role may not be set)',
  },
  seccomp: {
    spec: restricted({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    baseline: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    restricted: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  AppArmor: {
    spec: restricted({ containers: [container({ appArmorProfile: { type: 'Unconfined' } })] }),
    baseline: 'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
    restricted: 'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
  },
  sysctls: {
    spec: restricted({ securityContext: { sysctls: ['kernel.msgmax', 'net.ipv4.tcp_rmem'].map((name) => ({ name, value: '1' })) } }),
    baseline: 'forbidden sysctls (kernel.msgmax)',
    restricted: 'forbidden sysctls (kernel.msgmax)',
  },
  'probes of other hosts': {
    spec: restricted({
      containers: [
        container(
          {},
          { livenessProbe: { httpGet: { host: '1.2.3.4', port: 1 } }, lifecycle: { preStop: { tcpSocket: { host: 'h', port: 2 } } } },
        ),
      ],
    }),
    baseline: 'probe or lifecycle host (container "a" uses probe or lifecycle hosts "1.2.3.4", "h")',
    restricted: 'probe or lifecycle host (container "a" uses probe or lifecycle hosts "1.2.3.4", "h")',
  },
}

const label = (name: string): string => `pod-security.kubernetes.io/${name}`
const namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pod-security-restricted': { enforce: 'restricted' },
  'pod-security-baseline': { enforce: 'baseline' },
  'pod-security-warn': { enforce: 'privileged', warn: 'restricted' },
  'pod-security-old': { enforce: 'restricted', 'enforce-version': 'v1.18', warn: 'privileged' },
  'pod-security-later': {},
}
const labelled = (labels: Readonly<Record<string, string | null>>): JsonObject =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [label(name), value]))

t.test('Pod Security', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false })
  const api = apiOf(t, controlPlane.connection)
  t.teardown(() => Promise.all(Object.keys(namespaces).map((name) => api('DELETE', `/api/v1/namespaces/${name}`))))
  const podsOf = (namespace: string, query = '?dryRun=All'): string => `/api/v1/namespaces/${namespace}/pods${query}`
  for (const [name, labels] of Object.entries(namespaces)) {
    await api('POST', '/api/v1/namespaces', { body: { metadata: { name, labels: labelled(labels) } } })
    const probe = { metadata: { name: 'probe' }, spec: restricted() }
    await until(`Pods can be created in ${name}`, async () => (await api('POST', podsOf(name), { body: probe })).status === 201)
  }

  for (const [what, { spec, annotations = {}, ...says }] of Object.entries(cases))
    t.test(what, async (t) => {
      const body = { metadata: { name: 'a-pod', annotations }, spec }
      for (const level of ['baseline', 'restricted'] as const) {
        const answer = await api('POST', podsOf(`pod-security-${level}`), { body })
        const violation = says[level]
        if (violation === undefined) t.equal(answer.status, 201, `${level}: ${String(answer.body['message'])}`)
        else
          t.strictSame(answer.body, {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            message: `pods "a-pod" is forbidden: violates PodSecurity "${level}:latest": ${violation}`,
            reason: 'Forbidden',
            details: { name: 'a-pod', kind: 'pods' },
            code: 403,
          })
        t.strictSame(answer.warnings, [])
      }
      const warned = await api('POST', podsOf('pod-security-warn'), { body })
      t.equal(warned.status, 201)
      t.strictSame(
        warned.warnings,
        says.restricted === undefined ? [] : [`would violate PodSecurity "restricted:latest": ${says.restricted}`],
      )
    })

  t.test('an older version of a level has its own checks', async (t) => {
    const body = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'b' }] } }
    t.equal(
      (await api('POST', podsOf('pod-security-old'), { body })).body['message'],
      [
        'pods "a" is forbidden: violates PodSecurity "restricted:v1.18": ',
        'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ',
        'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
      ].join(''),
    )
  })

  t.test('a violating Pod template causes a warning and is stored', async (t) => {
    const labels = { app: 'a' }
    const template = { metadata: { labels }, spec: restricted({ hostNetwork: true }) }
    const body = { metadata: { name: 'a' }, spec: { selector: { matchLabels: labels }, template } }
    const answer = await api('POST', '/apis/apps/v1/namespaces/pod-security-restricted/deployments?dryRun=All', { body })
    t.equal(answer.status, 201)
    t.strictSame(answer.warnings, ['would violate PodSecurity "restricted:latest": host namespaces (hostNetwork=true)'])
  })

  t.test('a stricter level of a namespace warns about existing Pods that violate it', async (t) => {
    const path = '/api/v1/namespaces/pod-security-later'
    const change = (labels: Readonly<Record<string, string | null>>) =>
      api('PATCH', path, { contentType: 'application/merge-patch+json', body: { metadata: { labels: labelled(labels) } } })
    for (const [name, spec] of Object.entries({
      h: restricted({ hostNetwork: true }),
      p: { containers: [{ name: 'a', image: 'b' }] },
      q: { containers: [{ name: 'a', image: 'b' }] },
    }))
      t.equal((await api('POST', podsOf('pod-security-later', ''), { body: { metadata: { name }, spec } })).status, 201)
    const existing = (level: string): string =>
      `existing pods in namespace "pod-security-later" violate the new PodSecurity enforce level "${level}:latest"`
    t.strictSame((await change({ enforce: 'baseline' })).warnings, [existing('baseline'), 'h: host namespaces'])
    t.strictSame((await change({ enforce: 'restricted' })).warnings, [
      existing('restricted'),
      'h: host namespaces',
      'p (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
    ])

    const update = (body: JsonObject) => api('PATCH', `${path}/pods/p`, { contentType: 'application/strategic-merge-patch+json', body })
    t.equal((await update({ metadata: { labels: { a: 'b' } } })).status, 200, 'the labels of an existing Pod can be changed')
    t.match(
      (await update({ spec: { containers: [{ name: 'a', image: 'c' }] } })).body,
      { message: /violates PodSecurity/ },
      'the image of an existing Pod cannot be changed',
    )
    t.strictSame((await change({ enforce: 'baseline' })).warnings, [])
  })

  t.test('an invalid label is refused', async (t) => {
    const labels = labelled({ enforce: 'strict', 'enforce-version': 'v1.01', warn: 'none' })
    const { body } = await api('POST', '/api/v1/namespaces', { body: { metadata: { name: 'pod-security-bad', labels } } })
    const levels = 'must be one of privileged, baseline, restricted'
    const problems = [
      ['enforce', `Invalid value: "strict": ${levels}`],
      ['enforce-version', 'Invalid value: "v1.01": must be "latest" or "v1.x"'],
      ['warn', `Invalid value: "none": ${levels}`],
    ].map(([name, message]) => ({ reason: 'FieldValueInvalid', message: message!, field: `metadata.labels[${label(name!)}]` }))
    const text = problems.map(({ field, message }) => `${field}: ${message}`).join(', ')
    t.match(body, {
      code: 422,
      reason: 'Invalid',
      message: `Namespace "pod-security-bad" is invalid: [${text}]`,
      details: { causes: problems },
    })
  })
})
