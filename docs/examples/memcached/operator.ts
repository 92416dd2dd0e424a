import { defineOperator, defineWebhook, invalid } from 'proreus'
import { controller } from './controller.ts'
import { memcached } from './kind.ts'

export const operator = defineOperator({
  name: 'memcached',
  kinds: [memcached],
  webhooks: [
    defineWebhook(memcached, {
      validate: (_object, _old, { name }) =>
        name.length > 63 || name.includes('.') ? [invalid('metadata.name', name, 'must be a DNS label: Pods are labelled with it')] : [],
    }),
  ],
  controllers: [controller],
})
