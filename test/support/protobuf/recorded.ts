/**
 * The request bodies that commands of kubectl 1.36.3 send in the namespace `shop`, and the output of these commands with `--dry-run=client
 * -o json`.
 */
import type { JsonObject } from '../../../src/api/json.ts'

export const recorded: readonly (readonly [command: string, base64: string, json: JsonObject])[] = [
  [
    'create configmap settings --from-literal=a=1 --from-literal=b= --from-file=bin',
    'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjoKHAoIc2V0dGluZ3MSABoEc2hvcCIAKgAyADgAQgASBgoBYRIBMRIFCgFiEgAaCwoDYmluEgQA/4AKGgAiAA==',
    {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'settings', namespace: 'shop' },
      data: { a: '1', b: '' },
      binaryData: { bin: 'AP+ACg==' },
    },
  ],
  [
    'create deployment web --image=nginx:1 --port=8080',
    'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50Er8BCiMKA3dlYhIAGgRzaG9wIgAqADIAOABCAFoKCgNhcHASA3dlYhKJAQgBEgwKCgoDYXBwEgN3ZWIabwocCgASABoAIgAqADIAOABCAFoKCgNhcHASA3dlYhJPEjEKBW5naW54EgduZ2lueDoxKgAyCwoAEAAYkD8iACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA',
    {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'nginx', image: 'nginx:1', ports: [{ containerPort: 8080 }], resources: {} }] },
        },
        strategy: {},
      },
      status: {},
    },
  ],
  [
    'create clusterrole sum --aggregation-rule=a=b',
    'azhzAAorChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgtDbHVzdGVyUm9sZRIhChMKA3N1bRIAGgAiACoAMgA4AEIAGgoKCAoGCgFhEgFiGgAiAA==',
    {
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'sum' },
      rules: null,
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    },
  ],
  [
    'create quota limits --hard=cpu=1500m,memory=2Gi,pods=10 --scopes=BestEffort',
    'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRJbChoKBmxpbWl0cxIAGgRzaG9wIgAqADIAOABCABI7Cg4KA2NwdRIHCgUxNTAwbQoPCgZtZW1vcnkSBQoDMkdpCgwKBHBvZHMSBAoCMTASCkJlc3RFZmZvcnQaABoAIgA=',
    {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: { name: 'limits', namespace: 'shop' },
      spec: { hard: { cpu: '1500m', memory: '2Gi', pods: '10' }, scopes: ['BestEffort'] },
      status: {},
    },
  ],
  [
    'create cronjob nightly --image=busybox --schedule=0 1 * * * -- date',
    'azhzAAoTCghiYXRjaC92MRIHQ3JvbkpvYhK2AQobCgduaWdodGx5EgAaBHNob3AiACoAMgA4AEIAEpQBCgkwIDEgKiAqICoaACqEAQoXCgduaWdodGx5EgAaACIAKgAyADgAQgASaTJnChAKABIAGgAiACoAMgA4AEIAElMSLAoHbmlnaHRseRIHYnVzeWJveBoEZGF0ZSoAQgBqAHIAgAEAiAEAkAEAogEAGglPbkZhaWx1cmUyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBABoAGgAiAA==',
    {
      kind: 'CronJob',
      apiVersion: 'batch/v1',
      metadata: { name: 'nightly', namespace: 'shop' },
      spec: {
        schedule: '0 1 * * *',
        jobTemplate: {
          metadata: { name: 'nightly' },
          spec: {
            template: {
              metadata: {},
              spec: { containers: [{ name: 'nightly', image: 'busybox', command: ['date'], resources: {} }], restartPolicy: 'OnFailure' },
            },
          },
        },
      },
      status: {},
    },
  ],
  [
    'create ingress site --rule=shop.example.com/=web:80,tls=cert --rule=/api*=api:http --annotation=a=b --class=nginx',
    'azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxKnAQogCgRzaXRlEgAaBHNob3AiACoAMgA4AEIAYgYKAWESAWISfxIYChBzaG9wLmV4YW1wbGUuY29tEgRjZXJ0GjEKEHNob3AuZXhhbXBsZS5jb20SHQobChkKAS8SDSILCgN3ZWISBAoAEFAaBUV4YWN0GikKABIlCiMKIQoEL2FwaRIRIg8KA2FwaRIICgRodHRwEAAaBlByZWZpeCIFbmdpbngaAgoAGgAiAA==',
    {
      kind: 'Ingress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'site', namespace: 'shop', annotations: { a: 'b' } },
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['shop.example.com'], secretName: 'cert' }],
        rules: [
          {
            host: 'shop.example.com',
            http: { paths: [{ path: '/', pathType: 'Exact', backend: { service: { name: 'web', port: { number: 80 } } } }] },
          },
          { http: { paths: [{ path: '/api', pathType: 'Prefix', backend: { service: { name: 'api', port: { name: 'http' } } } }] } },
        ],
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'create poddisruptionbudget web --selector=app=web --min-available=50%',
    'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSQAoXCgN3ZWISABoEc2hvcCIAKgAyADgAQgASGQoJCAEQABoDNTAlEgwKCgoDYXBwEgN3ZWIaCggAGAAgACgAMAAaACIA',
    {
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  ],
  [
    'create token robot --duration=10m --audience=a',
    'azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIgChAKABIAGgAiACoAMgA4AEIAEgYKAWEg2AQaBAoAEgAaACIA',
    {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { audiences: ['a'], expirationSeconds: 600, boundObjectRef: null },
      status: { token: '', expirationTimestamp: null },
    },
  ],
]
