import { Menu, Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { PencilIcon, RefreshCwIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { type App, changeApp, DEVELOPERS_KEY, deleteApp, type Rotated, rotateApp } from '../../api/portal/developers.ts'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { RowMenu } from '../../parts/portal/row-menu.tsx'
import { say } from '../../texts/say.ts'
import { GivenAccess } from './issued-access.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

/** The actions on an OAuth app of a developer. */
export function AppActions({ app }: { readonly app: App }) {
  const [asked, setAsked] = useState<'edit' | 'rotate' | 'delete'>()
  const [rotated, setRotated] = useState<Rotated>()
  const client = useQueryClient()
  const close = () => setAsked(undefined)
  const changed = () => client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
  const name = app.client_name || app.client_id
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item leftSection={<PencilIcon size={16} aria-hidden />} onClick={() => setAsked('edit')}>
          {say('part.edit')}
        </Menu.Item>
        <Menu.Item leftSection={<RefreshCwIcon size={16} aria-hidden />} onClick={() => setAsked('rotate')}>
          {say('portal.rotateSecret')}
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Trash2Icon size={16} aria-hidden />} onClick={() => setAsked('delete')}>
          {say('part.delete')}
        </Menu.Item>
      </RowMenu>
      <Modal opened={asked === 'edit'} onClose={close} title={say('portal.editApp')}>
        <Form
          app={app}
          onDone={() => {
            close()
            void changed()
          }}
          onCancel={close}
        />
      </Modal>
      <RotateDialog
        title={say('portal.rotateSecret')}
        opened={asked === 'rotate'}
        rotate={async (overlapS) => {
          const answer = await rotateApp(app.client_id, overlapS)
          close()
          setRotated(answer)
        }}
        onClose={close}
      />
      <GivenAccess access={rotated} onDone={() => setRotated(undefined)} />
      <ConfirmDelete
        name={asked === 'delete' ? name : undefined}
        depends={say('portal.deleteAppHint')}
        run={() => deleteApp(app.client_id)}
        onDone={() => {
          close()
          void changed()
        }}
        onClose={close}
      />
    </>
  )
}

function Form(props: { readonly app: App; readonly onDone: () => void; readonly onCancel: () => void }) {
  const { app } = props
  return (
    <RecordForm
      fields={[
        { kind: 'text', name: 'client_name', label: say('portal.appName') },
        {
          kind: 'url',
          name: 'redirect_uri',
          label: say('portal.redirect'),
          hint: say('portal.redirectHint'),
        },
        { kind: 'area', name: 'app_description', rows: 2, label: say('portal.appAbout') },
        { kind: 'area', name: 'use_case', rows: 2, label: say('portal.useCase') },
      ]}
      initial={{
        client_name: app.client_name ?? '',
        redirect_uri: app.redirect_uri,
        app_description: app.app_description,
        use_case: app.use_case,
      }}
      submit={(values) => changeApp(app.client_id, values)}
      onDone={props.onDone}
      onCancel={props.onCancel}
    />
  )
}
