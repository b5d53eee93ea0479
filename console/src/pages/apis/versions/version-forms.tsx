import { useQueryClient } from '@tanstack/react-query'
import { APIS_KEY, type ApiView, createApi } from '../../../api/apis/apis.ts'
import type { VersionView } from '../../../api/apis/versions.ts'
import { type Field, RecordForm } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { upstreamOf } from '../list/api-labels.ts'
import { copyFor, renamed, useChangeVersions } from './versioning.ts'

/** Creates a version of an API: a copy at a new path, which callers reach by the name of the version too. */
export function NewVersion(props: { readonly api: ApiView; readonly baseName: string; readonly onDone: () => void }) {
  const { api, baseName } = props
  const client = useQueryClient()
  const fields: Field[] = [
    ...(baseName === ''
      ? [
          {
            ...({ name: 'baseName', kind: 'text', required: true } as const),
            ...{ label: say('apis.baseName'), hint: say('apis.baseNameHint') },
          },
        ]
      : []),
    {
      name: 'version',
      kind: 'text',
      required: true,
      label: say('apis.versionName'),
      hint: say('apis.versionNameHint'),
    },
    { name: 'name', kind: 'text', required: true, label: say('apis.name'), hint: say('apis.versionApiHint') },
    { name: 'path', kind: 'text', required: true, label: say('apiSet.listenPath'), hint: say('apis.versionPathHint') },
    { name: 'upstream', kind: 'url', required: true, label: say('apiSet.upstream'), hint: say('apiSet.upstreamHint') },
    { name: 'isDefault', kind: 'switch', label: say('apis.asDefault'), hint: say('apis.asDefaultHint') },
  ]
  const initial = {
    ...{ baseName: 'v1', version: 'v2', name: `${api.name} v2`, isDefault: false },
    ...{ path: `${api.listenPath.replace(/\/$/, '')}-v2/`, upstream: upstreamOf(api) },
  }
  return (
    <RecordForm
      fields={fields}
      initial={initial}
      verb={say('apis.newVersion')}
      done={say('apis.versionMade')}
      onCancel={props.onDone}
      submit={(values) =>
        createApi(copyFor(api, String(values.name), String(values.path), String(values.upstream)), {
          base_api_id: api.id,
          base_api_version_name: String(values.baseName),
          new_version_name: String(values.version),
          set_default: values.isDefault === true ? 'true' : '',
        })
      }
      onDone={() => {
        void client.invalidateQueries({ queryKey: APIS_KEY })
        props.onDone()
      }}
    />
  )
}

/** Gives a version another name; callers ask for it by that from then on. */
export function RenameVersion(props: {
  readonly api: ApiView
  readonly version: VersionView
  readonly onDone: () => void
}) {
  const { api, version } = props
  const client = useQueryClient()
  const change = useChangeVersions(api)
  const id = version.id === api.id ? '' : version.id
  return (
    <RecordForm
      fields={[
        { name: 'name', kind: 'text', required: true, label: say('apis.versionName'), hint: say('apis.renameHint') },
      ]}
      initial={{ name: version.versionName }}
      onCancel={props.onDone}
      submit={({ name }) => change((definition) => renamed(definition, api.isOas, id, String(name)))}
      onDone={() => {
        void client.invalidateQueries({ queryKey: APIS_KEY })
        props.onDone()
      }}
    />
  )
}
