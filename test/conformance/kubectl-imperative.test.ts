/**
 * Tests of kubectl commands that create an object from their arguments. These commands send protobuf. In contrast, commands that read a
 * file send JSON.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { steady } from '../support/conformance/kubectl.ts'
import type { Kubectl } from '../support/devcluster/kubectl.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-imperative'
const rbac = 'rbac.authorization.k8s.io'
/** The names of cluster-scoped objects begin with this prefix, so that they do not conflict with the objects of other tests. */
const unique = 'conformance-imperative'

/** The fields that the API server defaults in every Pod spec. */
const usualPod = { dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler', securityContext: {}, terminationGracePeriodSeconds: 30 }
const container = (name: string, image: string, imagePullPolicy: string, more: JsonObject = {}): JsonObject => ({
  name,
  image,
  imagePullPolicy,
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  ...more,
})

/** Each entry has a command, the name of the object that the command creates, and fields of this object. */
const created: readonly (readonly [string, string, JsonObject])[] = [
  [`namespace ${unique}-new`, `namespace/${unique}-new`, {}],
  ["configmap settings --from-literal=a=1 --from-literal=b= --from-literal=text='two words'", 'configmap/settings', { data: { a: '1', b: '', text: 'two words' } }], // prettier-ignore
  ['secret generic keys --from-literal=user=admin --from-literal=empty=', 'secret/keys', { data: { user: 'YWRtaW4=', empty: '' }, type: 'Opaque' }], // prettier-ignore
  [
    'deployment web --image=nginx:1 --image=busybox --replicas=3',
    'deployment.apps/web',
    {
      spec: {
        progressDeadlineSeconds: 600,
        replicas: 3,
        revisionHistoryLimit: 10,
        selector: { matchLabels: { app: 'web' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            ...usualPod,
            containers: [container('nginx', 'nginx:1', 'IfNotPresent'), container('busybox', 'busybox', 'Always')],
            restartPolicy: 'Always',
          },
        },
      },
    },
  ],
  ['serviceaccount robot', 'serviceaccount/robot', {}],
  [
    'role reader --verb=get,list --resource=pods,deployments.apps --resource-name=a',
    `role.${rbac}/reader`,
    {
      rules: [
        { apiGroups: [''], resourceNames: ['a'], resources: ['pods'], verbs: ['get', 'list'] },
        { apiGroups: ['apps'], resourceNames: ['a'], resources: ['deployments'], verbs: ['get', 'list'] },
      ],
    },
  ],
  [
    `rolebinding readers --clusterrole=view --serviceaccount=${namespace}:robot --user=ann --group=ops`,
    `rolebinding.${rbac}/readers`,
    {
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [
        { apiGroup: rbac, kind: 'User', name: 'ann' },
        { apiGroup: rbac, kind: 'Group', name: 'ops' },
        { kind: 'ServiceAccount', name: 'robot', namespace },
      ],
    },
  ],
  [
    `clusterrole ${unique} --verb=get --non-resource-url=/metrics`,
    `clusterrole.${rbac}/${unique}`,
    { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
  ],
  [
    `clusterrole ${unique}-sum --aggregation-rule=${unique}=yes`,
    `clusterrole.${rbac}/${unique}-sum`,
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [unique]: 'yes' } }] }, rules: null },
  ],
  [
    `clusterrolebinding ${unique} --clusterrole=${unique} --user=ann`,
    `clusterrolebinding.${rbac}/${unique}`,
    { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: unique }, subjects: [{ apiGroup: rbac, kind: 'User', name: 'ann' }] },
  ],
  [
    'quota limits --hard=cpu=1500m,memory=2Gi,pods=10',
    'resourcequota/limits',
    { spec: { hard: { cpu: '1500m', memory: '2Gi', pods: '10' } } },
  ],
  [
    "cronjob nightly --image=busybox --schedule='0 1 * * *' -- date -u",
    'cronjob.batch/nightly',
    {
      spec: {
        concurrencyPolicy: 'Allow',
        failedJobsHistoryLimit: 1,
        jobTemplate: {
          metadata: { name: 'nightly' },
          spec: {
            template: {
              metadata: {},
              spec: {
                ...usualPod,
                containers: [container('nightly', 'busybox', 'Always', { command: ['date', '-u'] })],
                restartPolicy: 'OnFailure',
              },
            },
          },
        },
        schedule: '0 1 * * *',
        successfulJobsHistoryLimit: 3,
        suspend: false,
      },
    },
  ],
  [
    'ingress site --rule=shop.example.com/=web:80,tls=cert --rule=/api*=api:http --class=nginx',
    'ingress.networking.k8s.io/site',
    {
      spec: {
        ingressClassName: 'nginx',
        rules: [
          {
            host: 'shop.example.com',
            http: { paths: [{ backend: { service: { name: 'web', port: { number: 80 } } }, path: '/', pathType: 'Exact' }] },
          },
          { http: { paths: [{ backend: { service: { name: 'api', port: { name: 'http' } } }, path: '/api', pathType: 'Prefix' }] } },
        ],
        tls: [{ hosts: ['shop.example.com'], secretName: 'cert' }],
      },
    },
  ],
  [
    'poddisruptionbudget web --selector=app=web --min-available=50%',
    'poddisruptionbudget.policy/web',
    { spec: { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } } },
  ],
  [
    'pdb count --selector=app=web --max-unavailable=0',
    'poddisruptionbudget.policy/count',
    { spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } } },
  ],
  [
    `priorityclass ${unique} --value=1000 --description=high --preemption-policy=Never`,
    `priorityclass.scheduling.k8s.io/${unique}`,
    { description: 'high', preemptionPolicy: 'Never', value: 1000 },
  ],
  [
    'service externalname out --external-name=example.com',
    'service/out',
    { spec: { externalName: 'example.com', selector: { app: 'out' }, sessionAffinity: 'None', type: 'ExternalName' } },
  ],
]

t.test('imperative commands', needsKubectl, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  await kubectl.ok(`config set-context --current --namespace=${namespace}`)
  t.teardown(() =>
    kubectl.ok(
      `delete --wait=false ns/${unique}-new clusterrole/${unique} clusterrole/${unique}-sum clusterrolebinding/${unique} priorityclass/${unique}`,
    ),
  )
  const objectOf = async (name: string): Promise<JsonObject> => JSON.parse(await kubectl.ok(`get ${name} -o json`)) as JsonObject

  for (const [args, name, fields] of created) {
    const [what, another] = args.split(' ')
    await t.test(`create ${what} ${another}`, async (t) => {
      t.strictSame(await kubectl(`create ${args}`), { code: 0, stdout: `${name} created\n`, stderr: '' })
      const object = await objectOf(name)
      for (const [field, value] of Object.entries(fields)) t.strictSame(object[field], value, field)
    })
  }
  t.match(JSON.parse(await kubectl.ok('get configmap settings -o json --show-managed-fields')), {
    metadata: {
      managedFields: [
        { manager: 'kubectl-create', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {}, 'f:text': {} } } },
      ],
    },
  })

  t.test('jobs, services and autoscalers', async (t) => {
    await kubectl.ok('create job once --image=busybox -- sh -c true')
    t.match(await objectOf('job/once'), {
      spec: {
        backoffLimit: 6,
        completions: 1,
        template: {
          spec: { containers: [container('once', 'busybox', 'Always', { command: ['sh', '-c', 'true'] })], restartPolicy: 'Never' },
        },
      },
    })
    t.equal(await kubectl.ok('create job again --from=cronjob/nightly'), 'job.batch/again created\n')
    t.match(await objectOf('job/again'), {
      metadata: { annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' }, ownerReferences: [{ kind: 'CronJob', name: 'nightly' }] },
      spec: { template: { spec: { containers: [{ command: ['date', '-u'] }] } } },
    })
    t.equal(await kubectl.ok('create service clusterip api --tcp=80:8080 --tcp=443:https'), 'service/api created\n')
    t.match(await objectOf('service/api'), {
      metadata: { labels: { app: 'api' } },
      spec: {
        ports: [
          { name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 },
          { name: '443-https', port: 443, protocol: 'TCP', targetPort: 'https' },
        ],
        selector: { app: 'api' },
        type: 'ClusterIP',
      },
    })
    t.equal(await kubectl.ok('autoscale deployment web --min=1 --max=5 --cpu=80%'), 'horizontalpodautoscaler.autoscaling/web autoscaled\n')
    t.strictSame((await objectOf('hpa/web'))['spec'], {
      maxReplicas: 5,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
      minReplicas: 1,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    })
  })

  t.test('refused commands and dry runs', async (t) => {
    const label = `must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
    const table = [
      [`create namespace ${namespace}`, `Error from server (AlreadyExists): namespaces "${namespace}" already exists\n`],
      ['create namespace UPPER', `The Namespace "UPPER" is invalid: metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 label ${label}\n`], // prettier-ignore
      ['create deployment web --image=x', 'error: failed to create deployment: deployments.apps "web" already exists\n'],
      ['create token nobody', 'error: failed to create token: serviceaccounts "nobody" not found\n'],
      [
        'create configmap tried --from-literal=a=1 --dry-run=server -o yaml',
        `apiVersion: v1\ndata:\n a: "1"\nkind: ConfigMap\nmetadata:\n creationTimestamp: "TIME"\n name: tried\n namespace: ${namespace}\n uid: UID\n`,
      ],
      ['get configmap tried', 'Error from server (NotFound): configmaps "tried" not found\n'],
    ] as const
    for (const [args, expected] of table) {
      const { stdout, stderr } = await kubectl(args)
      t.equal(steady(stdout + stderr).replaceAll(/^ +/gm, ' '), expected, args)
    }
  })

  t.test('create token, auth whoami and auth can-i', async (t) => {
    const token = (await kubectl.ok('create token robot --duration=20m')).trim()
    const robot = ((args) => kubectl(`${args} --token=${token}`)) as Kubectl
    const user = `system:serviceaccount:${namespace}:robot`
    const { code, stdout } = await robot('auth whoami')
    t.equal(code, 0)
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/))
    t.match(rows, [
      ['ATTRIBUTE', 'VALUE'],
      ['Username', user],
      ['UID', /^[0-9a-f-]{36}$/],
      ['Groups', `[system:serviceaccounts system:serviceaccounts:${namespace} system:authenticated]`],
      ['Extra: authentication.kubernetes.io/credential-id', /^\[JTI=[0-9a-f-]{36}\]$/],
    ])
    t.strictSame(await kubectl('auth can-i create pods'), { code: 0, stdout: 'yes\n', stderr: '' })
    t.strictSame(await kubectl('auth can-i get /metrics'), { code: 0, stdout: 'yes\n', stderr: '' })
    t.strictSame(await kubectl('auth can-i update deployments.apps --subresource=scale'), { code: 0, stdout: 'yes\n', stderr: '' })
    t.strictSame(await robot('auth can-i delete pods'), { code: 1, stdout: 'no\n', stderr: '' })
    t.strictSame(await robot('auth can-i get /metrics'), { code: 1, stdout: 'no\n', stderr: '' })
    await kubectl.ok('create role counter --verb=list --resource=configmaps')
    await kubectl.ok(`create rolebinding counter --role=counter --serviceaccount=${namespace}:robot`)
    await until('it may', async () => (await robot('auth can-i list configmaps')).stdout === 'yes\n')
    t.match((await robot('get configmaps -o name')).stdout, /configmap\/settings\n/)
    t.strictSame(await robot('auth can-i list configmaps -n default'), { code: 1, stdout: 'no\n', stderr: '' })
  })
})
